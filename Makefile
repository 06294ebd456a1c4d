# The two commands of the README, and what they are made of.
#
#   make demo    installs what is missing, builds, and analyses examples/
#   make test    installs what is missing and runs every check of the project

# Rust that scripts/setup installed is not on everybody's PATH.
export PATH := $(HOME)/.cargo/bin:$(PATH)

.PHONY: all build demo test setup bench

all: build

setup:
	@scripts/setup

build: setup
	cargo build --release --locked -p firstfault -p firstfault-capture

demo: build
	@scripts/demo

# The test runner comes last, so that its summary is the last thing printed.
test: setup
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	@scripts/test

bench:
	@scripts/setup bench
	cargo xtask bench import
	cargo xtask bench check
