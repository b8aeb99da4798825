//! `ask-user serve`.

use super::ServeArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::gateway::token;
use super::setup::{self, StoreChoice};
use super::{log, output, plugin};
use crate::channels::{ChannelService, Channels};
use crate::config::{Config, Loaded, StoreKind, check_token};
use crate::contract::Policy;
use crate::gateway::{self, Authority, Compatibility, Gateway, Settings};
use crate::{AskUser, TenantId};
use tokio_util::sync::CancellationToken;

/// Serves until it is told to end.
pub(super) fn run(args: &ServeArgs) -> Result<Exit, Failure> {
    log::begin(args.log)?;
    let loaded = match &args.config {
        Some(file) => Some(Loaded::read(file).map_err(|error| Failure::other("config", error))?),
        None => None,
    };
    let (config, authority) = match loaded {
        Some(loaded) => (loaded.config, loaded.authority),
        None => (Config::default(), Authority::default()),
    };
    let listen = args.listen.unwrap_or(config.listen.address);
    let authority = if args.stdio {
        authority
    } else {
        let given = given_token(args)?;
        authority_of(authority, given, listen.ip().is_loopback())?
    };
    let settings = Settings {
        listen,
        authority,
        compatibility: config.compatibility.into(),
        default_agent: config.default_agent.0.clone(),
        agents: config.agents.clone(),
        grace: config.shutdown.grace,
        ..Settings::default()
    };
    // One thread does all that waits for the network: a second only makes both wait for each other. Stores have theirs.
    setup::block_on_this_thread(serve(args, &config, settings))?
}

async fn serve(args: &ServeArgs, config: &Config, settings: Settings) -> Result<Exit, Failure> {
    let ending = ending()?;
    let (host, channels) = host(args, config, &settings)?;
    let settings = Settings { channels: Some(channels), ..settings };
    if args.stdio {
        gateway::serve_lines(host, settings, tokio::io::stdin(), tokio::io::stdout(), ending).await;
        return Ok(Exit::Done);
    }
    let listen = settings.listen;
    let gateway = Gateway::bind(host, settings).await.map_err(|error| {
        Failure::other("listen", format!("the gateway cannot listen on {listen}: {error}"))
    })?;
    output::note(&format!("listening on ws://{}", gateway.local_addr()));
    ending.cancelled().await;
    tracing::info!("the gateway ends");
    gateway.shutdown().await;
    Ok(Exit::Done)
}

/// The host and its channels: the built-in ones and those of plugins.
fn host(
    args: &ServeArgs,
    config: &Config,
    settings: &Settings,
) -> Result<(AskUser, ChannelService), Failure> {
    let store = match (&args.store, config.store.kind, &config.store.path) {
        (Some(store), ..) => store.clone(),
        (None, StoreKind::Sqlite, Some(path)) => StoreChoice::Sqlite(path.clone()),
        (None, ..) => StoreChoice::Memory,
    };
    let store = store.open()?;
    let sandbox = setup::sandbox()?;
    let plugin = sandbox.load_bundled().map_err(|error| Failure::other("plugin", error))?;
    let folder = args.plugins.folder_or(config.plugins.folder.clone());
    let channels = match folder {
        Some(folder) => plugin::all_channels(&folder, &sandbox, plugin.channel().clone())?,
        None => Channels::of(plugin.channel().clone()).map_err(|error| Failure::other("plugin", error))?,
    };
    let compatibility = settings.compatibility;
    let mut builder = compatibility
        .apply(AskUser::builder().plugin(plugin).shared_store(store.clone()))
        .policy(policy(config, compatibility))
        .observer(settings.metrics.clone());
    if let Some(retention) = config.store.retention {
        builder = builder.retention(retention);
    }
    if let Some(limit) = config.limits.pending {
        builder = builder.pending_limit(limit);
    }
    for (name, tenant) in &config.tenants {
        let id = TenantId::new(name.as_str()).map_err(|error| Failure::other("config", error))?;
        if let Some(retention) = tenant.retention {
            builder = builder.retention_of(id, retention);
        }
    }
    let host = builder.start().map_err(|error| Failure::other("host", error))?;
    let channels = ChannelService::new(host.clone(), channels, store);
    Ok((host, channels))
}

fn policy(config: &Config, compatibility: Compatibility) -> Policy {
    let mut policy = compatibility.policy();
    if let Some(credentials) = config.credentials {
        policy.credentials = credentials.into();
    }
    if let Some(limit) = config.own_text_limit {
        policy.own_text_limit = (limit > 0).then_some(limit);
    }
    policy
}

/// A token from outside the configuration.
fn given_token(args: &ServeArgs) -> Result<Option<String>, Failure> {
    let token = token(args.token_file.as_deref())?;
    if let Some(token) = &token {
        check_token(token).map_err(|error| Failure::other("token", error))?;
    }
    Ok(token)
}

/// Who may connect. Where nobody was named, whoever reads what this prints.
fn authority_of(
    authority: Authority,
    given: Option<String>,
    is_loopback: bool,
) -> Result<Authority, Failure> {
    match given {
        Some(token) if authority.is_empty() => Ok(Authority::single_token(&token)),
        _ if !authority.is_empty() => Ok(authority),
        _ if !is_loopback => Err(Failure::usage(
            "a gateway that others can reach needs tokens: name them in --config, or give one with --token-file",
        )),
        _ => {
            let token = gateway::fresh_token().map_err(|error| Failure::other("token", error))?;
            output::note(&format!("the token for this run is {}", output::emphasised(&token)));
            Ok(Authority::single_token(&token))
        }
    }
}

/// Fires when the process is told to end.
fn ending() -> Result<CancellationToken, Failure> {
    let ending = CancellationToken::new();
    let fire = ending.clone();
    let failed = |error: std::io::Error| Failure::other("signals", error);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        for kind in [SignalKind::interrupt(), SignalKind::terminate()] {
            let mut told = signal(kind).map_err(failed)?;
            let fire = fire.clone();
            tokio::spawn(async move {
                told.recv().await;
                fire.cancel();
            });
        }
    }
    #[cfg(not(unix))]
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            fire.cancel();
        }
    });
    Ok(ending)
}
