//! A messaging service that remembers what it was told, and can be out of order.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use ask_user_host::channels::{Messenger, MessengerError, Place};
use ask_user_host::contract::Call;
use async_trait::async_trait;
use serde_json::Value;

/// What the service was told, in its order.
#[derive(Clone, Debug, PartialEq)]
pub enum Told {
    /// To bring out what the agent has written so far.
    Flush(String),
    /// To send a message at this address, which got this name.
    Send(String, String, Call),
    /// To change something at this address.
    Edit(String, Call),
    /// To respond to a tap.
    Acknowledge(Call),
}

impl Told {
    /// The call, where it was one.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Self::Flush(_) => None,
            Self::Send(_, _, call) | Self::Edit(_, call) | Self::Acknowledge(call) => Some(call),
        }
    }

    /// The call's body.
    pub fn body(&self) -> Value {
        self.call().map(|call| serde_json::from_str(&call.body).expect("a body is JSON")).unwrap_or_default()
    }
}

/// The service.
#[derive(Debug, Default)]
pub struct FakeService {
    told: Mutex<Vec<Told>>,
    sent: Mutex<HashMap<String, u32>>,
    /// Whether nothing can be sent.
    pub is_down: AtomicBool,
}

impl FakeService {
    /// What it was told so far; it forgets that.
    pub fn take(&self) -> Vec<Told> {
        std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many things it was told since.
    pub fn count(&self) -> usize {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn note(&self, told: Told) -> Result<(), MessengerError> {
        if self.is_down.load(Ordering::SeqCst) {
            return Err(MessengerError("the service is down".into()));
        }
        self.told.lock().unwrap_or_else(PoisonError::into_inner).push(told);
        Ok(())
    }
}

#[async_trait]
impl Messenger for FakeService {
    async fn flush(&self, place: &Place) -> Result<(), MessengerError> {
        self.note(Told::Flush(place.target.address.clone()))
    }

    async fn send(&self, place: &Place, call: &Call) -> Result<String, MessengerError> {
        let address = place.target.address.clone();
        let name = {
            let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
            let number = sent.entry(address.clone()).or_insert(100);
            *number += 1;
            number.to_string()
        };
        self.note(Told::Send(address, name.clone(), call.clone()))?;
        Ok(name)
    }

    async fn edit(&self, place: &Place, call: &Call) -> Result<(), MessengerError> {
        self.note(Told::Edit(place.target.address.clone(), call.clone()))
    }

    async fn acknowledge(&self, _: &str, call: &Call) -> Result<(), MessengerError> {
        self.note(Told::Acknowledge(call.clone()))
    }
}
