//! `firstfault.toml`: what a project says once instead of on every command line. It lies in
//! the project's folder, beside `.firstfault/`.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use schemars::JsonSchema;
use serde::Deserialize;
use spec::diagnostic::{position, suggest};

pub const FILE: &str = "firstfault.toml";

/// A file larger than this is no settings.
const MAX_BYTES: u64 = 1 << 20;

/// The settings; each has the name of the command-line option that does the same.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Config {
    /// Specifications and models of the project: files, or folders of them, relative to the
    /// file.
    pub spec: Vec<PathBuf>,
    /// Interface functions whose parameters come from outside.
    pub entry: Vec<Entry>,
    /// Allocators never return null.
    pub assume_alloc_succeeds: bool,
    /// A baseline whose findings are not reported, relative to the file.
    pub baseline: Option<PathBuf>,
    /// What `firstfault beliefs` cannot infer.
    pub beliefs: Beliefs,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Beliefs {
    /// Templates of the project: files, or folders that hold one, relative to the file.
    pub templates: Vec<PathBuf>,
    /// The share of places expected to follow a rule by chance.
    pub p0: Option<f64>,
    /// Routines made for pointers from outside, with the argument that is one: `copyin:1`.
    pub paranoid: Vec<String>,
    /// Routines whose dereferences do not count.
    pub ignore: Vec<String>,
    /// Parts of names of flags that are true where a pointer comes from outside.
    pub backdoors: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    /// Its name.
    pub function: String,
    /// Names of parameters.
    pub input: Vec<String>,
}

const KEYS: [&str; 12] = [
    "spec",
    "entry",
    "assume-alloc-succeeds",
    "baseline",
    "function",
    "input",
    "beliefs",
    "templates",
    "p0",
    "paranoid",
    "ignore",
    "backdoors",
];

/// The settings of the project in this folder; the defaults where it has none.
pub fn load(folder: &Path) -> Result<Config> {
    let path = folder.join(FILE);
    let text = match std::fs::metadata(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => bail!("cannot read {FILE}: {error}"),
        Ok(found) if found.len() > MAX_BYTES => bail!("cannot read {FILE}: larger than 1 MiB"),
        Ok(_) => match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) => bail!("cannot read {FILE}: {error}"),
        },
    };
    let mut config = parse(&text)?;
    for path in config.spec.iter_mut().chain(&mut config.beliefs.templates) {
        *path = folder.join(&path);
    }
    config.baseline = config.baseline.map(|path| folder.join(path));
    Ok(config)
}

fn parse(text: &str) -> Result<Config> {
    let error = match toml::from_str(text) {
        Ok(config) => return Ok(config),
        Err(error) => error,
    };
    let (line, column) = position(text, error.span().map_or(0, |span| span.start));
    let message = error.message().lines().next().unwrap_or("it is not TOML").to_owned();
    let unknown = message.strip_prefix("unknown field `").and_then(|rest| rest.split('`').next());
    let what = match unknown {
        None => message,
        Some(key) => match suggest(key, KEYS) {
            Some(near) => format!("unknown key `{key}`; do you mean `{near}`?"),
            None => format!("{}; see docs/configuration.md", message.replace("field", "key")),
        },
    };
    bail!("{FILE}:{line}:{column}: {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_can_be_said() {
        let config = parse(
            "spec = [\"rules\", \"pool.model\"]\nassume-alloc-succeeds = true\n\
             baseline = \"known.json\"\n\
             [[entry]]\nfunction = \"parse\"\ninput = [\"data\", \"len\"]\n",
        )
        .unwrap();
        assert_eq!(config.spec, [Path::new("rules"), Path::new("pool.model")]);
        assert!(config.assume_alloc_succeeds);
        assert_eq!(config.baseline.as_deref(), Some(Path::new("known.json")));
        let input = vec!["data".to_owned(), "len".to_owned()];
        assert_eq!(config.entry, [Entry { function: "parse".to_owned(), input }]);
        assert_eq!(parse("").unwrap(), Config::default());
    }

    #[test]
    fn mistakes_have_a_place_and_a_remedy() {
        for (text, expected) in [
            ("\nentrys = []\n", "firstfault.toml:2:1: unknown key `entrys`; do you mean `entry`?"),
            (
                "assume_alloc_succeeds = true\n",
                "firstfault.toml:1:1: unknown key `assume_alloc_succeeds`; do you mean \
                 `assume-alloc-succeeds`?",
            ),
            ("frobnicate = 1\n", "docs/configuration.md"),
            ("spec = \"rules\"\n", "firstfault.toml:1:8: invalid type: string \"rules\""),
            ("entry = [{ function = \"f\" }]\n", "missing field `input`"),
            ("spec = [\n", "firstfault.toml:"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }

    /// With `FIRSTFAULT_UPDATE=1` the published schema is written anew.
    #[test]
    fn the_published_schema_names_every_key() {
        let settings = schemars::generate::SchemaSettings::draft07();
        let schema = settings.into_generator().into_root_schema_for::<Config>();
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        for key in KEYS {
            assert!(text.contains(&format!("\"{key}\": {{")), "{key}: {text}");
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let path = root.join("docs/firstfault.schema.json");
        if std::env::var_os("FIRSTFAULT_UPDATE").is_some() {
            std::fs::write(path, text).unwrap();
        } else {
            let published = std::fs::read_to_string(path).unwrap();
            assert!(published == text, "FIRSTFAULT_UPDATE=1 brings the schema up to date");
        }
    }

    #[test]
    fn a_folder_without_settings_has_the_defaults() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(load(folder.path()).unwrap(), Config::default());
        std::fs::write(folder.path().join(FILE), "spec = [\"rules\"]\n").unwrap();
        assert_eq!(load(folder.path()).unwrap().spec, [folder.path().join("rules")]);
        std::fs::write(folder.path().join(FILE), [0xff, 0xfe]).unwrap();
        assert!(load(folder.path()).unwrap_err().to_string().starts_with("cannot read"));
    }
}
