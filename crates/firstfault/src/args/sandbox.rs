//! How programs under test are run: in the sandbox, unless the command line says otherwise. No
//! file of a project can say so.

use std::path::PathBuf;
use std::sync::Once;

use clap::Args;
use run::{Allowed, Limits, Permissions};

#[derive(Args)]
pub struct SandboxArgs {
    /// Run the program without the sandbox: it can then do what you can do
    #[arg(long)]
    no_sandbox: bool,
}

impl SandboxArgs {
    /// Whether programs are confined. Says once where the system does not allow all of it.
    pub fn is_on(&self) -> bool {
        static SAID: Once = Once::new();
        if !self.no_sandbox {
            SAID.call_once(|| {
                // Where there is none at all, runs fail and say so.
                let notice = run::sandbox::probe().ok().and_then(|(level, why)| level.notice(&why));
                notice.iter().for_each(|notice| crate::log::warning(notice));
            });
        }
        !self.no_sandbox
    }

    pub fn limits(&self, limits: Limits) -> Limits {
        Limits { is_confined: self.is_on(), ..limits }
    }
}

#[derive(Args)]
pub struct AllowArgs {
    /// What tests may use outside the sandbox if they declare it (see docs/locate.md); may be
    /// given several times
    #[arg(long, value_name = "network|write=PATH|declared", value_parser = allow)]
    allow: Vec<Allow>,
}

#[derive(Clone)]
enum Allow {
    Network,
    Write(PathBuf),
    Declared,
}

fn allow(text: &str) -> Result<Allow, String> {
    match text.split_once('=') {
        None if text == "network" => Ok(Allow::Network),
        None if text == "declared" => Ok(Allow::Declared),
        Some(("write", path)) if !path.is_empty() => {
            let path = PathBuf::from(path);
            path.canonicalize().map(Allow::Write).map_err(|e| format!("{}: {e}", path.display()))
        }
        _ => Err("expected network, write=PATH or declared".to_owned()),
    }
}

impl AllowArgs {
    pub fn allowed(&self) -> Allowed {
        let mut allowed = Allowed::default();
        for allow in &self.allow {
            match allow {
                Allow::Network => allowed.network = true,
                Allow::Declared => allowed.declared = true,
                Allow::Write(path) => allowed.writes.push(path.clone()),
            }
        }
        allowed
    }

    /// For a run that the command line itself describes.
    pub fn permissions(&self) -> Permissions {
        let Allowed { network, writes, .. } = self.allowed();
        Permissions { network, writes }
    }
}
