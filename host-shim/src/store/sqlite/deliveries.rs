//! Deliveries in the SQLite file.

use async_trait::async_trait;
use rusqlite::{Connection, Row, params};

use super::super::deliveries::{AT_ONE_ADDRESS, Delivery, DeliveryState, DeliveryStore};
use super::super::{StoreError, TenantId};
use super::{Failure, SqliteStore, all, change, count, first, json, read, together};

type Result<T> = std::result::Result<T, StoreError>;

/// The statements, which a test asks SQLite how it will run them.
pub(super) mod statements {
    #[cfg(test)]
    pub(in super::super) const ALL: [&str; 8] = [INSERT, INSERT_TOKEN, GET, OF, WITH, AT, MOVE, OUTDATED];

    pub(super) const INSERT: &str = "INSERT INTO deliveries (tenant, id, prompt, channel, address, state, messages, delivery) \
         SELECT ?1, ?2, id, ?4, ?5, ?6, ?7, ?8 FROM prompts WHERE tenant = ?1 AND id = ?3 RETURNING number";
    pub(super) const INSERT_TOKEN: &str =
        "INSERT INTO delivery_tokens (tenant, channel, token, delivery) VALUES (?1, ?2, ?3, ?4)";
    pub(super) const GET: &str =
        "SELECT state, messages, delivery FROM deliveries WHERE tenant = ?1 AND id = ?2";
    pub(super) const OF: &str =
        "SELECT state, messages, delivery FROM deliveries WHERE tenant = ?1 AND prompt = ?2 ORDER BY number";
    pub(super) const WITH: &str = "SELECT state, messages, delivery FROM deliveries WHERE number IN \
         (SELECT delivery FROM delivery_tokens WHERE tenant = ?1 AND channel = ?2 AND token = ?3) ORDER BY number";
    pub(super) const AT: &str = "SELECT d.state, d.messages, d.delivery FROM deliveries d \
         WHERE d.tenant = ?1 AND d.channel = ?2 AND d.address = ?3 AND EXISTS \
         (SELECT 1 FROM prompts p WHERE p.tenant = d.tenant AND p.id = d.prompt AND p.settled_at IS NULL) \
         ORDER BY d.number DESC LIMIT ?4";
    pub(super) const MOVE: &str = "UPDATE deliveries SET state = ?4, messages = coalesce(?5, messages) \
         WHERE tenant = ?1 AND id = ?2 AND state = ?3";
    pub(super) const OUTDATED: &str = "SELECT d.state, d.messages, d.delivery FROM deliveries d \
         WHERE d.tenant = ?1 AND d.state IN (1, 2) AND EXISTS \
         (SELECT 1 FROM prompts p WHERE p.tenant = d.tenant AND p.id = d.prompt AND p.settled_at IS NOT NULL) \
         ORDER BY d.number LIMIT ?2";
}

/// A delivery as its row has it.
struct Written {
    state: i64,
    messages: String,
    delivery: String,
}

impl Written {
    fn of(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { state: row.get("state")?, messages: row.get("messages")?, delivery: row.get("delivery")? })
    }

    fn read(self) -> std::result::Result<Delivery, Failure> {
        let mut delivery: Delivery = read(&self.delivery)?;
        delivery.messages = read(&self.messages)?;
        // A state that nobody knows is one in which nothing is left to do.
        let state = DeliveryState::ALL.into_iter().find(|state| state.number() == self.state);
        delivery.state = state.unwrap_or(DeliveryState::Done);
        Ok(delivery)
    }
}

fn found(
    connection: &Connection,
    statement: &str,
    parameters: &[&dyn rusqlite::ToSql],
) -> std::result::Result<Vec<Delivery>, Failure> {
    all(connection, statement, parameters, Written::of)?.into_iter().map(Written::read).collect()
}

#[async_trait]
impl DeliveryStore for SqliteStore {
    async fn insert_delivery(&self, tenant: &TenantId, delivery: &Delivery) -> Result<bool> {
        let (tenant, delivery) = (tenant.clone(), delivery.clone());
        let insert = move |connection: &Connection| {
            together(connection, |connection| {
                let (tenant, place) = (tenant.as_str(), &delivery.place);
                let (messages, written) = (json(&delivery.messages)?, json(&delivery)?);
                let state = delivery.state.number();
                let parameters = params![
                    tenant,
                    delivery.id,
                    delivery.prompt,
                    place.channel,
                    place.target.address,
                    state,
                    messages,
                    written
                ];
                let number: Option<i64> =
                    first(connection, statements::INSERT, parameters, |row| row.get("number"))?;
                let Some(number) = number else { return Ok(false) };
                for binding in &delivery.bindings {
                    let parameters = params![tenant, place.channel, binding.token, number];
                    change(connection, statements::INSERT_TOKEN, parameters)?;
                }
                Ok(true)
            })
        };
        self.writer.run(insert).await
    }

    async fn delivery(&self, tenant: &TenantId, id: &str) -> Result<Option<Delivery>> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        let look = move |connection: &Connection| {
            let written = first(connection, statements::GET, params![tenant.as_str(), id], Written::of)?;
            written.map(Written::read).transpose()
        };
        self.reader.run(look).await
    }

    async fn deliveries_of(&self, tenant: &TenantId, prompt: &str) -> Result<Vec<Delivery>> {
        let (tenant, prompt) = (tenant.clone(), prompt.to_owned());
        let look = move |connection: &Connection| {
            found(connection, statements::OF, params![tenant.as_str(), prompt])
        };
        self.reader.run(look).await
    }

    async fn deliveries_with(&self, tenant: &TenantId, channel: &str, token: &str) -> Result<Vec<Delivery>> {
        let (tenant, channel, token) = (tenant.clone(), channel.to_owned(), token.to_owned());
        let look = move |connection: &Connection| {
            found(connection, statements::WITH, params![tenant.as_str(), channel, token])
        };
        self.reader.run(look).await
    }

    async fn deliveries_at(&self, tenant: &TenantId, channel: &str, address: &str) -> Result<Vec<Delivery>> {
        let (tenant, channel, address) = (tenant.clone(), channel.to_owned(), address.to_owned());
        let look = move |connection: &Connection| {
            let limit = count(AT_ONE_ADDRESS);
            found(connection, statements::AT, params![tenant.as_str(), channel, address, limit])
        };
        self.reader.run(look).await
    }

    async fn move_delivery(
        &self,
        tenant: &TenantId,
        id: &str,
        from: DeliveryState,
        to: DeliveryState,
        messages: Option<&[String]>,
    ) -> Result<bool> {
        let (tenant, id) = (tenant.clone(), id.to_owned());
        let messages = messages.map(|messages| self.json(messages)).transpose()?;
        let change_state = move |connection: &Connection| {
            let parameters = params![tenant.as_str(), id, from.number(), to.number(), messages];
            Ok(change(connection, statements::MOVE, parameters)? > 0)
        };
        self.writer.run(change_state).await
    }

    async fn outdated_deliveries(&self, tenant: &TenantId, limit: usize) -> Result<Vec<Delivery>> {
        let tenant = tenant.clone();
        let look = move |connection: &Connection| {
            found(connection, statements::OUTDATED, params![tenant.as_str(), count(limit)])
        };
        self.reader.run(look).await
    }
}
