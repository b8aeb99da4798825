//! The prompts in an SQLite file that a test shares with the program.

use std::path::PathBuf;
use std::sync::Arc;

use ask_user_host::contract::Prompt;
use ask_user_host::store::{Query, SqliteStore, StatusFilter, Store};
use ask_user_host::{AskUser, Submission, TenantId};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::program::eventually;
use super::world::{answer, operator, plugin};

/// A file of prompts in a folder of its own.
pub struct PromptFile {
    folder: TempDir,
    runtime: Runtime,
}

impl PromptFile {
    /// An empty one.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = Self { folder, runtime: Runtime::new().expect("a runtime") };
        drop(file.store());
        file
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("prompts.db")
    }

    /// The value of `--store`.
    pub fn option(&self) -> String {
        format!("sqlite:{}", self.path().display())
    }

    /// All prompts in it, in the order in which they were asked.
    pub fn all(&self) -> Vec<Prompt> {
        let query = Query { status: StatusFilter::All, ..Query::default() };
        let store = self.store();
        let page = self.runtime.block_on(store.list(&TenantId::default(), &query, 0));
        page.expect("the store answers").prompts.into_iter().map(Arc::unwrap_or_clone).collect()
    }

    /// The first prompt, once somebody has asked.
    pub fn first(&self) -> Prompt {
        eventually("a prompt in the file", || self.all().into_iter().next())
    }

    /// The tool result of the first prompt; nothing while it is pending.
    pub fn outcome(&self) -> Option<String> {
        plugin().outcome(&self.first()).expect("the plugin answers").map(|result| result.json)
    }

    /// Answers the first prompt's only question as an operator does in another process.
    pub fn answer(&self, value: &str) {
        let prompt = self.first();
        let answers = vec![answer(&prompt.questions[0].id, &[value])];
        let store = self.store();
        self.runtime.block_on(async {
            let host =
                AskUser::builder().plugin(plugin()).shared_store(store).start().expect("the host starts");
            host.resolve(&operator(), &prompt.id, Submission::of(answers)).await.expect("it is pending");
        });
    }

    /// Deletes the first prompt.
    pub fn delete(&self) {
        let prompt = self.first();
        let store = self.store();
        let deleted = self.runtime.block_on(store.delete(&TenantId::default(), &prompt.id));
        assert!(deleted.expect("the store answers"), "it was there");
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(self.path()).expect("the file opens"))
    }
}

impl Default for PromptFile {
    fn default() -> Self {
        Self::new()
    }
}
