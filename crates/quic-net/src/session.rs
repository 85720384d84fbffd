//! A session between two ends over QUIC: connection attempts, admission of peers, keep-alives, timeouts, close, and the
//! event loop. An [`Application`] handles the data.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::{Control, End, Handshake, Limits, Outcome, Patience, Phase, Progress, REPLACE_AFTER, Stats};
use contract::Ecn;
use driver::Platform;
use quinn_proto::crypto::rustls::QuicClientConfig;
use quinn_proto::{ClientConfig, Connection, ConnectionHandle, Dir, Event, StreamEvent, TransportConfig};
use transfer::{Pause, Status};
use units::{Duration, Rate, Time};
use wire::stream::{Reason, Role};

use crate::certificate::NAME;
use crate::connection::{ConnectionState, Pool, SessionContext};
use crate::frames::{Record, VERSION};
use crate::host::{Host, Hosted, Protocol, drive};
use crate::log::Watch;
use crate::settings::Settings;
use crate::tls::Pins;
use crate::transport::{SendConfig, server_config, transport};

mod ends;

pub use ends::{REPLACED, code, reason};

/// Interval at which progress is published and requests of other threads are read.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// How long an end waits for its peer to close, and for its own closing period.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);
/// Time until an attempt without an answer is followed by a new connection; it doubles up to `MAX_DOUBLINGS` times.
/// quinn's own retransmissions soon become rare, and the peer may start to listen at any time.
const RECONNECT_INTERVAL: Duration = Duration::from_secs(1);
const MAX_DOUBLINGS: u32 = 2;
/// Maximum number of connections at a server, in addition to the session's.
const MAX_CONNECTIONS: usize = 16;

/// What runs in a session: a sender or a receiver.
pub(crate) trait Application {
    /// Which of the two.
    const ROLE: Role;

    /// How packets are sent.
    fn send_config(&self) -> SendConfig;

    /// A session opens, possibly again after a connection was lost.
    fn open(&mut self, context: &mut SessionContext<'_>);

    /// Handles a record of the peer.
    ///
    /// # Errors
    ///
    /// A reason for the peer, and a message for users at this end.
    fn on_record(&mut self, record: Record, context: &mut SessionContext<'_>)
    -> Result<(), (Reason, String)>;

    /// Handles the content of a DATAGRAM frame.
    fn on_datagram(&mut self, bytes: &[u8], ecn: Ecn, context: &mut SessionContext<'_>);

    /// A multicast group to join. It is returned once.
    fn group_to_join(&mut self) -> Option<SocketAddr> {
        None
    }

    /// Handles a datagram of the group.
    fn on_group(&mut self, _bytes: &[u8], _ecn: Ecn, context: &mut SessionContext<'_>) {
        context.stats.discarded.strangers += 1;
    }

    /// Handles what is due.
    fn turn(&mut self, context: &mut SessionContext<'_>);

    /// The next deadline.
    fn wake(&self, now: Time) -> Time;

    /// Data packets sent, where the application and not QUIC decides when they leave.
    fn paced(&self) -> Option<u64>;

    /// The rate that the application permits, where it and not QUIC decides when packets leave.
    fn rate(&self) -> Option<Rate> {
        None
    }

    /// The scheme changes to this mode.
    fn on_mode(&mut self, mode: &str, now: Time);

    /// The state of all objects.
    fn status(&self) -> Status;

    /// The reason for the peer if the transfer failed.
    fn reason(&self) -> Reason {
        Reason::Storage
    }

    /// An increasing measure of delivered data; `None` if patience does not apply.
    fn progress(&self) -> Option<u64>;

    /// Which end causes the current lack of data.
    fn pause(&self) -> Pause;

    /// Whether another peer may continue after the first one was lost.
    fn accepts_other_peers(&self) -> bool {
        true
    }

    /// The session ended without a result: another peer may offer something else.
    fn reset(&mut self, _now: Time) {}

    /// The session has ended permanently.
    fn close(&mut self, stats: &mut Stats, now: Time);

    /// Publishes its progress.
    fn show(&self, progress: &Progress);
}

/// Runs a session until it is over.
pub(crate) fn run<P: Platform, A: Application>(
    settings: &Settings,
    application: A,
    platform: &mut P,
    control: &Control,
) -> Outcome {
    let now = platform.now();
    let mut client_secret = [0; 32];
    platform.fill_random(&mut client_secret);
    let client_secret = settings.client_secret.unwrap_or(client_secret);
    let mut send_config = application.send_config();
    let watch = settings.logs.clone().map(|logs| Watch::new(&send_config, logs));
    if let Some(watch) = &watch {
        send_config.controller = Arc::clone(watch) as _;
    }
    let transport = Arc::new(transport(&settings.limits, &send_config));
    let (mut client, mut server) = (None, None);
    let pins = match settings.handshake {
        Handshake::Connect(to) => {
            let (crypto, pins) = settings.credentials.client();
            client = Some(Client { to, crypto, transport, next_at: now, attempts: 0 });
            pins
        }
        Handshake::Listen => {
            let (crypto, pins) = settings.credentials.server();
            server = Some(server_config(crypto, transport, platform));
            pins
        }
    };
    let mut host = Host::new(platform, server);
    host.watch = watch;
    let mut session = Session {
        limits: settings.limits,
        trusted: client.is_some() || settings.credentials.authenticate(),
        own: settings.credentials.fingerprints(),
        application,
        control,
        pins,
        client,
        client_secret,
        connections: Vec::new(),
        active: None,
        pool: Pool::default(),
        stats: Stats::default(),
        received_at: now,
        started_at: now,
        poll_at: now,
        patience: Patience::new(now),
        mode_changes: 0,
        mode: None,
        silent: false,
        whole_at: Time::NEVER,
        done_until: None,
        counted: (None, [0; 2]),
        outer_bytes: 0,
        closing: None,
    };
    let end = drive(&mut host, &mut session);
    let now = host.platform.now();
    session.finish(&mut host, now);
    Outcome { end, stats: session.stats }
}

/// The connection attempts of a client.
struct Client {
    to: SocketAddr,
    crypto: Arc<QuicClientConfig>,
    transport: Arc<TransportConfig>,
    /// Time of the next attempt.
    next_at: Time,
    /// Attempts since the last session.
    attempts: u32,
}

pub(crate) struct Session<'a, A> {
    limits: Limits,
    /// The peer is authenticated, or this end chose its address.
    trusted: bool,
    /// Fingerprints of this end as a client and as a server.
    own: (crate::Fingerprint, crate::Fingerprint),
    application: A,
    control: &'a Control,
    pins: Arc<Pins>,
    client: Option<Client>,
    /// The secret of the client, which is this end, or at a server the client that it serves.
    client_secret: [u8; 32],
    connections: Vec<ConnectionState>,
    /// The connection of the session.
    active: Option<ConnectionHandle>,
    pool: Pool,
    stats: Stats,
    /// When a datagram last arrived from the peer.
    received_at: Time,
    started_at: Time,
    poll_at: Time,
    patience: Patience,
    /// Number of local changes of mode that were handled.
    mode_changes: u32,
    /// The last mode that was requested, at this end or by the peer.
    mode: Option<String>,
    silent: bool,
    /// Since when a receiver has everything.
    whole_at: Time,
    /// The sender has reported that it is done, and waits until this time for its peer to close.
    done_until: Option<Time>,
    /// Packets lost and congestion events of the connection, as last read.
    counted: (Option<ConnectionHandle>, [u64; 2]),
    /// Bytes of the headers of IP and UDP.
    outer_bytes: u64,
    /// How it ends, and when at the latest.
    closing: Option<(End, Time)>,
}

impl<A: Application> Protocol for Session<'_, A> {
    fn on_packet(&mut self, id: ConnectionHandle, connection: &mut Connection, ecn: Ecn, now: Time) {
        let Self { connections, application, pool, stats, .. } = self;
        let Some(state) = connections.iter_mut().find(|state| state.id == id && state.lost.is_none()) else {
            return;
        };
        state.received_at = now;
        if self.active != Some(id) || self.closing.is_some() {
            return;
        }
        self.received_at = now;
        while let Some(bytes) = connection.datagrams().recv() {
            let mut context = SessionContext { connection, control: &mut state.control, pool, stats, now };
            application.on_datagram(&bytes, ecn, &mut context);
        }
    }

    fn group_connection(&self) -> Option<ConnectionHandle> {
        self.active
    }

    fn on_group(&mut self, connection: &mut Connection, bytes: &[u8], ecn: Ecn, now: Time) {
        let Self { connections, application, pool, stats, active, .. } = self;
        let serving = connections.iter_mut().find(|state| Some(state.id) == *active);
        let Some(state) = serving.filter(|_| self.closing.is_none()) else { return };
        application.on_group(
            bytes,
            ecn,
            &mut SessionContext { connection, control: &mut state.control, pool, stats, now },
        );
    }

    fn on_event(&mut self, id: ConnectionHandle, connection: &mut Connection, event: Event, now: Time) {
        let known = self.connections.iter().position(|state| state.id == id && state.lost.is_none());
        let state = match (known, &event) {
            (Some(at), _) => &mut self.connections[at],
            (None, Event::Connected) if connection.side().is_server() => {
                self.connections.push(ConnectionState::new(id, now));
                self.connections.last_mut().expect("one was pushed")
            }
            (None, Event::ConnectionLost { .. }) => {
                // a client that was not accepted, or gave up
                self.stats.discarded.forged += 1;
                return;
            }
            (None, _) => return,
        };
        match event {
            Event::Connected => {
                state.connected = true;
                if connection.side().is_client() {
                    state.control.send_record(&Record::Hello {
                        version: VERSION,
                        role: A::ROLE,
                        client_secret: self.client_secret,
                    });
                }
            }
            Event::Stream(StreamEvent::Opened { dir: Dir::Bi }) => state.control.open(connection),
            Event::ConnectionLost { reason } => state.lost = Some(reason),
            _ => {}
        }
    }
}

impl<P: Platform, A: Application> Hosted<P> for Session<'_, A> {
    fn turn(&mut self, host: &mut Host<P>, now: Time) -> Option<End> {
        if let Some((end, until)) = &self.closing {
            return (host.count() == 0 || now >= *until).then(|| end.clone());
        }
        if now >= self.poll_at {
            self.poll(host, now);
        }
        let mut connections = std::mem::take(&mut self.connections);
        for state in &mut connections {
            self.read(state, host, now);
        }
        connections.retain_mut(|state| match state.lost.take() {
            Some(reason) => {
                self.on_lost(state, reason, now);
                false
            }
            None => true,
        });
        connections.append(&mut self.connections);
        self.connections = connections;
        self.drop_idle(host, now);
        if self.closing.is_none() {
            self.watch(host, now);
        }
        if self.closing.is_none() && !self.is_suspended() {
            self.with_context(host, now, |application, context| application.turn(context));
            if let (Some(id), Some(rate)) = (self.active, self.application.rate()) {
                host.permit(id, rate);
            }
        }
        None
    }

    fn wake(&self, now: Time) -> Time {
        let mut wake = self.poll_at;
        if let Some((_, until)) = &self.closing {
            return *until;
        }
        if let Some(client) = self.client.as_ref().filter(|_| self.active.is_none()) {
            wake = wake.min(client.next_at.max(now));
        }
        let runs = self.active.is_some() && !self.is_suspended();
        if runs { wake.min(self.application.wake(now)) } else { wake }
    }

    fn paced(&self) -> Option<u64> {
        self.application.paced()
    }
}

impl<A: Application> Session<'_, A> {
    /// A sender pauses while no datagram of its receiver arrives, because its effect on the network is unknown.
    fn is_suspended(&self) -> bool {
        self.silent && A::ROLE == Role::Sender
    }

    /// Calls `act` with the application and the connection of the session, if there is one.
    fn with_context<P: Platform>(
        &mut self,
        host: &mut Host<P>,
        now: Time,
        act: impl FnOnce(&mut A, &mut SessionContext<'_>),
    ) {
        let Self { connections, application, pool, stats, .. } = self;
        let Some(id) = self.active else { return };
        let (Some(state), Some(connection)) =
            (connections.iter_mut().find(|state| state.id == id), host.connection(id))
        else {
            return;
        };
        if connection.is_closed() {
            return;
        }
        act(application, &mut SessionContext { connection, control: &mut state.control, pool, stats, now });
        state.control.exchange(connection);
    }

    /// Publishes progress, and reads the requests of other threads.
    fn poll<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        self.poll_at = now + POLL_INTERVAL;
        self.show(host);
        if let Some(mode) = self.control.mode(&mut self.mode_changes) {
            self.application.on_mode(&mode, now);
            self.control.progress.set_mode(&mode);
            self.with_context(host, now, |_, context| context.send_record(&Record::Mode(mode.clone())));
            self.mode = Some(mode);
        }
        if self.control.stopped() {
            self.end(host, End::Stopped, Reason::Stopped, "", now);
        }
    }

    // ---- received records

    /// Reads the control stream of a connection.
    fn read<P: Platform>(&mut self, state: &mut ConnectionState, host: &mut Host<P>, now: Time) {
        let Some(connection) = host.connection(state.id) else {
            state.lost.get_or_insert(quinn_proto::ConnectionError::TimedOut);
            return;
        };
        if !state.connected || connection.is_closed() {
            return;
        }
        state.control.exchange(connection);
        loop {
            let record = match state.control.next_record() {
                Ok(Some(record)) => record,
                Ok(None) => return,
                Err(_) => {
                    self.stats.discarded.malformed += 1;
                    return host.close(
                        state.id,
                        ends::code(Reason::Mismatch),
                        "not a record of Thalweg",
                        now,
                    );
                }
            };
            let served = self.active == Some(state.id);
            match record {
                Record::Hello { version, role, client_secret } if !state.hello_received => {
                    state.hello_received = true;
                    state.client_secret = client_secret;
                    self.on_hello(state, version, role, host, now);
                }
                Record::Mode(mode) if served => {
                    self.application.on_mode(&mode, now);
                    self.control.progress.set_mode(&mode);
                    self.mode = Some(mode);
                }
                Record::Done if served && A::ROLE == Role::Receiver => {
                    if self.application.status() == Status::Complete {
                        self.end(host, End::Complete, Reason::Complete, "", now);
                    }
                }
                record if served && self.closing.is_none() => self.on_record(state, record, host, now),
                _ => self.stats.discarded.misplaced += 1,
            }
            if self.closing.is_some() {
                return;
            }
        }
    }

    fn on_record<P: Platform>(
        &mut self,
        state: &mut ConnectionState,
        record: Record,
        host: &mut Host<P>,
        now: Time,
    ) {
        let Some(connection) = host.connection(state.id) else { return };
        let Self { application, pool, stats, .. } = self;
        let mut context = SessionContext { connection, control: &mut state.control, pool, stats, now };
        if let Err((reason, why)) = application.on_record(record, &mut context) {
            state.control.exchange(connection);
            return self.end(host, End::Failed(why.clone()), reason, &why, now);
        }
        if let Some(group) = self.application.group_to_join()
            && let Err(error) = host.platform.join(group)
        {
            let why = format!("the group {group} cannot be joined: {error}");
            self.end(host, End::Failed(why.clone()), Reason::Offer, &why, now);
        }
    }

    /// The hello of a peer: a session opens, or the connection is closed with the reason.
    fn on_hello<P: Platform>(
        &mut self,
        state: &mut ConnectionState,
        version: u8,
        role: Role,
        host: &mut Host<P>,
        now: Time,
    ) {
        let refused = if version != VERSION {
            Some((Reason::Mismatch, format!("version {version} is not supported, but {VERSION}")))
        } else if role == A::ROLE {
            Some((Reason::Mismatch, String::new()))
        } else if self.is_busy(&state.client_secret) {
            Some((Reason::Busy, String::new()))
        } else {
            None
        };
        if let Some((reason, why)) = refused {
            return host.close(state.id, ends::code(reason), &why, now);
        }
        let same = self.client.is_some() || self.client_secret == state.client_secret;
        if self.client.is_none() {
            state.control.send_record(&Record::Hello {
                version: VERSION,
                role: A::ROLE,
                client_secret: [0; 32],
            });
            if self.client_secret != state.client_secret
                && self.stats.sessions > 0
                && self.application.progress() == Some(0)
            {
                self.application.reset(now);
            }
            self.client_secret = state.client_secret;
        }
        if let Some(before) = self.active.replace(state.id).filter(|before| *before != state.id) {
            let code = if same { ends::REPLACED } else { ends::code(Reason::Stopped) };
            host.close(before, code, "replaced by another connection", now);
        }
        self.open_session(state, host, now);
    }

    /// Whether another client is being served and is not replaced by this one.
    fn is_busy(&self, client_secret: &[u8; 32]) -> bool {
        if self.client.is_some() || self.stats.sessions == 0 || self.client_secret == *client_secret {
            return false;
        }
        let no_progress = !self.trusted
            && self.application.progress() == Some(0)
            && self.patience.stalled() >= REPLACE_AFTER;
        let lost = self.active.is_none() || self.silent;
        !(no_progress || (lost && self.application.accepts_other_peers()))
    }

    /// A session opens on this connection.
    fn open_session<P: Platform>(&mut self, state: &mut ConnectionState, host: &mut Host<P>, now: Time) {
        self.stats.sessions += 1;
        self.stats.opened_at = self.stats.opened_at.min(now);
        (self.received_at, self.silent, self.whole_at, self.done_until) = (now, false, Time::NEVER, None);
        if let Some(client) = &mut self.client {
            client.attempts = 0;
        }
        self.patience = Patience::new(now);
        self.control.progress.peers.store(1, Ordering::Relaxed);
        self.control.progress.enter(Phase::Open);
        let Some(connection) = host.connection(state.id) else { return };
        let Self { application, pool, stats, mode, .. } = self;
        if let Some(mode) = mode {
            application.on_mode(mode, now);
            state.control.send_record(&Record::Mode(mode.clone()));
        }
        application.open(&mut SessionContext { connection, control: &mut state.control, pool, stats, now });
    }

    /// Connects to the server, in place of an attempt without an answer.
    fn connect<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let Some(client) = self.client.as_mut().filter(|client| now >= client.next_at) else { return };
        let active = self.active;
        self.connections.retain(|state| {
            let keep = active == Some(state.id) || state.connected;
            if !keep {
                host.close(state.id, ends::code(Reason::Stopped), "", now);
            }
            keep
        });
        client.next_at = now + RECONNECT_INTERVAL * (1 << client.attempts.min(MAX_DOUBLINGS));
        client.attempts += 1;
        let mut config = ClientConfig::new(Arc::clone(&client.crypto) as _);
        config.transport_config(Arc::clone(&client.transport));
        match host.connect(config, client.to, NAME, now) {
            Ok(id) => self.connections.push(ConnectionState::new(id, now)),
            Err(error) => {
                self.closing = Some((End::Failed(format!("{}: {error}", client.to)), now));
            }
        }
    }

    /// Closes connections without a hello, and the oldest of too many.
    fn drop_idle<P: Platform>(&mut self, host: &mut Host<P>, now: Time) {
        let mut spare = self.connections.len().saturating_sub(MAX_CONNECTIONS);
        for state in &self.connections {
            let idle = !state.hello_received && now >= state.started_at + self.limits.patience;
            if self.active != Some(state.id) && (idle || spare > 0) {
                spare = spare.saturating_sub(1);
                host.close(state.id, ends::code(Reason::NoProgress), "", now);
            }
        }
    }
}
