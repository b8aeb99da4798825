//! The two threads that own the connections to one file.
//!
//! SQLite writes one transaction at a time, and a durable commit waits for the disk. So writes go to one thread, which
//! commits together what has come in while it was busy: alone a write waits for nobody, in a crowd many share one
//! commit. Reads have a thread and a connection of their own and never wait for a commit. Only a look at one prompt needs
//! neither: it takes less than asking a thread for it.

use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::Failure;
use crate::store::StoreError;

/// The most jobs in one transaction. Whoever comes first does not wait for an endless crowd behind.
const LONGEST_BATCH: usize = 512;

/// Something to do, and where whoever waits for it runs.
struct Job {
    work: Work,
    caller: Option<Handle>,
}

/// Work on the connection, or on the news that there is none. Gives what is left to do when its transaction has ended.
type Work = Box<dyn FnOnce(Result<&Connection, StoreError>) -> Tell + Send>;

/// Tells the caller how it went: with the job's own result if the transaction was committed.
type Tell = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

impl Job {
    fn run(self, connection: Result<&Connection, StoreError>) -> Answer {
        Answer { tell: (self.work)(connection), caller: self.caller }
    }
}

/// What is left of a job.
struct Answer {
    tell: Tell,
    caller: Option<Handle>,
}

/// A thread with a connection. It ends, and the connection is closed, when this is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    store: Arc<str>,
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// A thread that changes things. Jobs are durable once they are answered; each has to be all or nothing by itself.
    pub(super) fn writer(store: Arc<str>, connection: Connection) -> Result<Self, StoreError> {
        Self::start(store, "ask-user-write", move |store, jobs| write_all(&store, &connection, &jobs))
    }

    /// A thread that looks things up.
    pub(super) fn reader(store: Arc<str>, connection: Connection) -> Result<Self, StoreError> {
        Self::start(store, "ask-user-read", move |_, jobs| {
            while let Ok(job) = jobs.recv() {
                (job.run(Ok(&connection)).tell)(Ok(()));
            }
        })
    }

    fn start(
        store: Arc<str>,
        name: &str,
        work: impl FnOnce(Arc<str>, mpsc::Receiver<Job>) + Send + 'static,
    ) -> Result<Self, StoreError> {
        let (jobs, queue) = mpsc::channel();
        let of_thread = store.clone();
        let thread = thread::Builder::new()
            .name(name.into())
            .spawn(move || work(of_thread, queue))
            .map_err(|error| unavailable(&store, format!("the thread {name} cannot be started: {error}")))?;
        Ok(Self { store, jobs: Some(jobs), thread: Some(thread) })
    }

    /// Does one job. It is done also when the caller stops waiting.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        let store = self.store.clone();
        let work: Work = Box::new(move |connection| {
            let result =
                connection.and_then(|connection| job(connection).map_err(|failure| failure.of(&store)));
            Box::new(move |ending| {
                // Whoever stopped waiting has dropped the other end.
                let _ = sender.send(ending.and(result));
            })
        });
        let job = Job { work, caller: Handle::try_current().ok() };
        let sent = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        let answer = if sent { receiver.await.ok() } else { None };
        answer.unwrap_or_else(|| Err(unavailable(&self.store, "its thread has ended".into())))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Without senders the thread ends after what is queued.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // An error is a panic of the thread, and those who waited for it have been told.
            let _ = thread.join();
        }
    }
}

fn write_all(store: &str, connection: &Connection, jobs: &mpsc::Receiver<Job>) {
    let mut batch = Vec::new();
    let mut answers = Vec::new();
    while let Ok(first) = jobs.recv() {
        batch.push(first);
        batch.extend(jobs.try_iter().take(LONGEST_BATCH - 1));
        let ending = write_together(store, connection, batch.drain(..), &mut answers);
        answer_all(&mut answers, ending);
    }
}

/// Runs jobs in one transaction; how it ended, for the answers that are still to be given.
fn write_together(
    store: &str,
    connection: &Connection,
    jobs: impl Iterator<Item = Job>,
    answers: &mut Vec<Answer>,
) -> Result<(), StoreError> {
    for job in jobs {
        if connection.is_autocommit() {
            // The first one. Or the disk was full, or something as bad, and SQLite has taken back the transaction.
            answer_all(answers, Err(taken_back(store)));
            if let Err(error) = run(store, connection, "BEGIN IMMEDIATE") {
                (job.run(Err(error.clone())).tell)(Err(error));
                continue;
            }
        }
        answers.push(job.run(Ok(connection)));
    }
    if connection.is_autocommit() {
        return Err(taken_back(store));
    }
    run(store, connection, "COMMIT").inspect_err(|_| {
        if !connection.is_autocommit() {
            // If this fails, too, the next job finds an open transaction of which nothing was promised to anybody.
            let _ = run(store, connection, "ROLLBACK");
        }
    })
}

/// Tells everybody how the transaction ended. Waking a task from outside of its runtime asks the system each time, so a
/// crowd is told from within, by a task that is woken once.
fn answer_all(answers: &mut Vec<Answer>, ending: Result<(), StoreError>) {
    let runtime = |answer: &Answer| answer.caller.as_ref().map(Handle::id);
    let shared = match answers.as_slice() {
        [first, others @ ..] if others.iter().all(|other| runtime(other) == runtime(first)) => {
            first.caller.clone().filter(|_| !others.is_empty())
        }
        _ => None,
    };
    let crowd = Crowd { answers: std::mem::take(answers), ending };
    if let Some(runtime) = shared {
        runtime.spawn(async move { drop(crowd) });
    }
}

/// The answers of one transaction. They are given when this is dropped, and so in any case: also when a runtime that is
/// shutting down takes no task any more.
struct Crowd {
    answers: Vec<Answer>,
    ending: Result<(), StoreError>,
}

impl Drop for Crowd {
    fn drop(&mut self) {
        for answer in self.answers.drain(..) {
            (answer.tell)(self.ending.clone());
        }
    }
}

fn run(store: &str, connection: &Connection, statement: &str) -> Result<(), StoreError> {
    let done = connection.prepare_cached(statement).and_then(|mut statement| statement.execute([]));
    done.map(|_| ()).map_err(|error| Failure::from(error).of(store))
}

fn taken_back(store: &str) -> StoreError {
    unavailable(store, "the transaction was taken back after an error".into())
}

fn unavailable(store: &str, cause: String) -> StoreError {
    StoreError::Unavailable { store: store.into(), cause }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::Pin;
    use std::task::Poll;

    use super::*;

    fn table() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE TABLE numbers (number INTEGER NOT NULL)").unwrap();
        connection
    }

    fn count(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM numbers", [], |row| row.get(0)).unwrap()
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    /// What a future gives at once. One poll of [`Worker::run`] puts the job into the queue.
    async fn poll_once<T>(mut future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
        poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(value) => Poll::Ready(Some(value)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    /// A job that runs a statement, and where its answer comes.
    fn job(statement: &'static str) -> (Job, oneshot::Receiver<Result<(), StoreError>>) {
        let (sender, receiver) = oneshot::channel();
        let work: Work = Box::new(move |connection| {
            let result = connection.and_then(|connection| {
                connection.execute_batch(statement).map_err(|error| Failure::from(error).of("test"))
            });
            Box::new(move |ending| sender.send(ending.and(result)).unwrap())
        });
        (Job { work, caller: None }, receiver)
    }

    fn write(connection: &Connection, statements: &[&'static str]) -> Vec<bool> {
        let (jobs, receivers): (Vec<_>, Vec<_>) = statements.iter().map(|text| job(text)).unzip();
        let mut answers = Vec::new();
        let ending = write_together("test", connection, jobs.into_iter(), &mut answers);
        answer_all(&mut answers, ending);
        receivers.into_iter().map(|mut receiver| receiver.try_recv().unwrap().is_ok()).collect()
    }

    #[test]
    fn what_waits_in_the_queue_is_committed_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.execute_batch("CREATE TABLE numbers (number INTEGER NOT NULL)").unwrap();
        let worker = Worker::writer("test".into(), connection).unwrap();

        // Each job inserts a number and tells how many another connection can see.
        let insert = |connection: &Connection| {
            connection.execute("INSERT INTO numbers VALUES (1)", [])?;
            let path = connection.path().map(str::to_owned).unwrap();
            Ok(count(&Connection::open(path)?))
        };
        let (begin, begun) = mpsc::channel();
        let (release, held) = mpsc::channel();
        block_on(async {
            let mut first = Box::pin(worker.run(move |connection| {
                begin.send(()).unwrap();
                held.recv().unwrap();
                insert(connection)
            }));
            assert!(poll_once(first.as_mut()).await.is_none());
            begun.recv().unwrap();
            // The thread is busy; what comes in now has to wait.
            let mut others: Vec<_> = (0..100).map(|_| Box::pin(worker.run(insert))).collect();
            for other in &mut others {
                assert!(poll_once(other.as_mut()).await.is_none());
            }
            release.send(()).unwrap();
            assert_eq!(first.await.unwrap(), 0);
            for other in others {
                assert_eq!(other.await.unwrap(), 1);
            }
            assert_eq!(worker.run(insert).await.unwrap(), 101);
        });
    }

    #[test]
    fn a_job_that_fails_does_not_spoil_the_others() {
        let connection = table();
        let statements = [
            "INSERT INTO numbers VALUES (1)",
            "INSERT INTO numbers VALUES (NULL)",
            "INSERT INTO numbers VALUES (3)",
        ];
        assert_eq!(write(&connection, &statements), [true, false, true]);
        assert_eq!(count(&connection), 2);
    }

    #[test]
    fn nobody_is_told_that_something_is_kept_that_was_taken_back() {
        let connection = table();
        let statements = [
            "INSERT INTO numbers VALUES (1)",
            "INSERT OR ROLLBACK INTO numbers VALUES (NULL)",
            "INSERT INTO numbers VALUES (3)",
        ];
        assert_eq!(write(&connection, &statements), [false, false, true]);
        assert_eq!(count(&connection), 1);
        assert_eq!(write(&connection, &statements[..2]), [false, false]);
        assert_eq!(count(&connection), 1);
    }

    #[test]
    fn a_job_is_done_when_nobody_waits_for_it() {
        let worker = Worker::writer("test".into(), table()).unwrap();
        block_on(async {
            let mut insert = Box::pin(worker.run(|connection| {
                connection.execute("INSERT INTO numbers VALUES (1)", [])?;
                Ok(())
            }));
            poll_once(insert.as_mut()).await;
            drop(insert);
            assert_eq!(worker.run(|connection| Ok(count(connection))).await.unwrap(), 1);
        });
    }

    #[test]
    fn a_thread_that_has_ended_is_not_available() {
        let worker = Worker::reader("test".into(), table()).unwrap();
        for _ in 0..2 {
            let ended = block_on(worker.run(|_| -> Result<(), Failure> { panic!("on purpose") }));
            assert!(matches!(ended, Err(StoreError::Unavailable { .. })), "{ended:?}");
        }
    }
}
