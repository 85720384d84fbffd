//! The receiver: accepts objects, stores them, and answers the sender.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::{Control, Limits, Outcome, Progress, Stats};
use contract::Ecn;
use driver::Platform;
use transfer::{Incoming, MAX_MESSAGE_BYTES, Pause, Status};
use units::{Duration, Time};
use wire::stream::{Frame, Offer, Reason, Role, Transport};

use crate::connection::SessionContext;
use crate::frames::{Datagram, Record};
use crate::group::{self, PublicKey, Reception};
use crate::paced::{Framing, PacedReceiver, receiver_address};
use crate::scheme::find;
use crate::session::{Application, run};
use crate::settings::{Accept, Proposal, Settings};
use crate::stream::ReceiveStream;
use crate::transport::SendConfig;

/// Maximum number of messages of the store per turn.
const MESSAGES: usize = 4;
/// Interval at which a store that was full is tried again.
const STORE_POLL_INTERVAL: Duration = Duration::from_millis(2);
/// Minimum interval at which overtaken packets are reported to the sender.
const REORDERING_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum payload of a UDP datagram that this end sends: messages and acknowledgements are small.
const PAYLOAD: u16 = 1452;

/// Receives what `accept` accepts from one sender, and returns at the end. If the sender announces that its data are
/// sent to a multicast group, this end joins the group.
pub fn receive(
    settings: &Settings,
    accept: Accept<'_>,
    platform: &mut impl Platform,
    control: &Control,
) -> Outcome {
    let mut seed = [0; 8];
    platform.fill_random(&mut seed);
    run(settings, Receiving::new(accept, settings.limits, u64::from_be_bytes(seed)), platform, control)
}

/// The application of a receiver.
struct Receiving<'a> {
    accept: Accept<'a>,
    /// The object that was accepted last, and where it is stored.
    accepted: Option<Accepted>,
    /// Data of earlier objects, by the measure of [`Incoming`].
    earlier_progress: u64,
    paced: PacedReceiver,
    limits: Limits,
    /// The group to which data are sent, and the number of this end in it; the group's address until it is joined.
    group: Option<(Reception, u32)>,
    group_to_join: Option<SocketAddr>,
    /// No packet of the group has arrived for the silence, and the sender has been informed.
    group_idle: bool,
    /// Overtaken packets in the last report to the sender, and its time.
    reported_reordering: (u64, Time),
    failed: Option<String>,
    buffer: Box<[u8; MAX_MESSAGE_BYTES]>,
}

/// An accepted object.
struct Accepted {
    number: u32,
    proposal: Proposal,
    more: bool,
    store: Incoming,
    /// Its stream on the current connection.
    incoming: Option<ReceiveStream>,
    /// It has been accepted on the current connection.
    open: bool,
}

impl Accepted {
    fn status(&self) -> Status {
        match &self.store {
            Incoming::Paced(sink) => sink.status(),
            Incoming::Windowed(sink) => sink.status(),
        }
    }

    fn progress(&self) -> Option<u64> {
        match &self.store {
            Incoming::Paced(sink) => sink.progress(),
            Incoming::Windowed(sink) => sink.progress(),
        }
    }

    fn verifies(&self) -> bool {
        match &self.store {
            Incoming::Paced(sink) => sink.verifies(),
            Incoming::Windowed(sink) => sink.verifies(),
        }
    }

    /// Whether the same object is offered as before.
    fn matches(&self, number: u32, proposal: &Proposal) -> bool {
        let identity = |proposal: &Proposal| {
            let Offer { about, transport, size, .. } = proposal.offer.clone();
            (proposal.folders.clone(), about, transport, size)
        };
        self.number == number && identity(&self.proposal) == identity(proposal)
    }

    fn begin(&mut self, context: &SessionContext<'_>) {
        let binding = context.binding();
        match &mut self.store {
            Incoming::Paced(sink) => {
                sink.bind(&binding);
                sink.on_open();
            }
            Incoming::Windowed(sink) => {
                sink.bind(&binding);
                sink.on_open();
            }
        }
        self.open = true;
    }

    fn end(&mut self, now: Time) {
        match &mut self.store {
            Incoming::Paced(sink) => sink.on_end(now),
            Incoming::Windowed(sink) => sink.on_end(now),
        }
    }

    fn next_message(&mut self, now: Time, buffer: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        match &mut self.store {
            Incoming::Paced(sink) => sink.write_message(now, buffer),
            Incoming::Windowed(sink) => sink.write_message(now, buffer),
        }
    }

    fn wake(&self) -> Time {
        match &self.store {
            Incoming::Paced(sink) => sink.wake(),
            Incoming::Windowed(sink) => sink.wake(),
        }
    }
}

/// The names of a proposal, or a message for users which of them is not valid.
fn check_names(proposal: &Proposal) -> Result<(), String> {
    let name = transfer::offered(&proposal.offer).map(|manifest| manifest.name);
    let names = proposal.folders.iter().map(|folder| ("folder", folder));
    for (at, (kind, name)) in names.chain(name.as_ref().map(|name| ("name", name))).enumerate() {
        let check = if at == 0 { transfer::check_outermost_name } else { transfer::check_name };
        check(name).map_err(|why| format!("the {kind} {name:?}: {why}"))?;
    }
    Ok(())
}

/// How data packets arrive: by a group, or on the connection.
fn framing(group: Option<&(Reception, u32)>, context: &SessionContext<'_>) -> Framing {
    match group {
        Some((group, peer)) => {
            let (receiver, outer_bytes) = (receiver_address(*peer), group.outer_bytes());
            Framing { receiver, outer_bytes, overhead: group::OVERHEAD, first: None }
        }
        None => Framing::unicast(context.outer_bytes()),
    }
}

impl<'a> Receiving<'a> {
    fn new(accept: Accept<'a>, limits: Limits, seed: u64) -> Self {
        Self {
            accept,
            accepted: None,
            earlier_progress: 0,
            paced: PacedReceiver::new(seed),
            limits,
            group: None,
            group_to_join: None,
            group_idle: false,
            reported_reordering: (0, Time::ZERO),
            failed: None,
            buffer: Box::new([0; MAX_MESSAGE_BYTES]),
        }
    }

    /// Accepts an offer, or returns a message why not.
    fn on_offer(
        &mut self,
        number: u32,
        more: bool,
        proposal: Proposal,
        context: &mut SessionContext<'_>,
    ) -> Result<(), String> {
        if self.accepted.as_ref().is_some_and(|accepted| !accepted.matches(number, &proposal)) {
            self.finish_object(context)?;
        }
        let accepted = match &mut self.accepted {
            Some(accepted) => accepted,
            None => {
                let store = self.open_store(&proposal)?;
                self.accepted.insert(Accepted { number, proposal, more, store, incoming: None, open: false })
            }
        };
        if !accepted.open {
            if matches!(accepted.store, Incoming::Paced(_)) {
                let framing = framing(self.group.as_ref(), context);
                self.paced.join(&accepted.proposal.offer, &framing, context)?;
            }
            accepted.begin(context);
            context.send_record(&Record::Ready { object: number });
        }
        Ok(())
    }

    /// The previous object is complete, or another sender offers something else.
    fn finish_object(&mut self, context: &mut SessionContext<'_>) -> Result<(), String> {
        let Some(mut accepted) = self.accepted.take() else { return Ok(()) };
        let open = accepted.open;
        if accepted.status() != Status::Complete && open {
            self.accepted = Some(accepted);
            return Err("something else is offered before the last object is complete".to_owned());
        }
        self.earlier_progress += accepted.progress().unwrap_or(0);
        accepted.end(context.now);
        if let Some(stream) = accepted.incoming {
            stream.stop(context);
        }
        Ok(())
    }

    fn open_store(&mut self, proposal: &Proposal) -> Result<Incoming, String> {
        let (entry, transport) = find(&proposal.offer.scheme)?;
        (entry.resolve)(&proposal.offer.params).map_err(crate::scheme::parameter_error)?;
        let fits = |store: &Incoming| match store {
            Incoming::Paced(_) => transport == Transport::Paced,
            Incoming::Windowed(_) => transport == Transport::Windowed,
        };
        check_names(proposal)?;
        let store = (self.accept)(proposal)?;
        if transport != proposal.offer.transport || !fits(&store) {
            return Err(format!("`{}` does not carry data of this kind", entry.scheme.name));
        }
        Ok(store)
    }

    /// The sender announces that its data are sent to a group.
    fn on_group_offer(
        &mut self,
        address: SocketAddr,
        session: u32,
        peer: u32,
        key: PublicKey,
        now: Time,
    ) -> Result<(), (Reason, String)> {
        if !address.ip().is_multicast() {
            return Err((Reason::Offer, format!("{address} is not the address of a multicast group")));
        }
        self.group = Some((Reception::new(address, session, key, now), peer));
        self.group_to_join = Some(address);
        Ok(())
    }

    /// Informs the sender if no packet of the group arrives for the silence, and gives up after the patience.
    fn watch_group(&mut self, context: &mut SessionContext<'_>) {
        let Some((group, _)) = &self.group else { return };
        let idle = group.is_idle(context.now, self.limits.silence);
        if idle != self.group_idle {
            self.group_idle = idle;
            context.send_record(&Record::GroupReception(!idle));
        }
        if group.is_idle(context.now, self.limits.patience) {
            self.failed.get_or_insert_with(|| group.unreachable_message());
        }
    }

    /// Reports to the sender of a paced flow that packets were overtaken, at most once in a second.
    fn report_reordering(&mut self, context: &mut SessionContext<'_>) {
        let (reordered, late) = self.paced.reordering();
        let (reported, at) = self.reported_reordering;
        let due = context.now.saturating_since(at) >= REORDERING_INTERVAL;
        if reordered > reported && due && self.group.is_none() {
            self.reported_reordering = (reordered, context.now);
            context.send_record(&Record::Reordering { reordered, late });
        }
    }

    /// Reads the stream of the object.
    fn read(&mut self, context: &mut SessionContext<'_>) {
        let Some(Accepted { number, store: Incoming::Windowed(sink), incoming, open: true, .. }) =
            &mut self.accepted
        else {
            return;
        };
        loop {
            if incoming.is_none() {
                *incoming = ReceiveStream::accept(context.connection);
            }
            let Some(stream) = incoming else { return };
            let before = stream.taken();
            let matches = stream.read(*number, &mut **sink, context);
            context.stats.content += stream.taken() - before;
            if matches {
                return;
            }
            // the stream is an earlier object's, which was empty
            *incoming = None;
        }
    }

    /// Sends the messages of the store.
    fn send_messages(&mut self, context: &mut SessionContext<'_>) {
        let Some(accepted) = self.accepted.as_mut().filter(|accepted| accepted.open) else { return };
        for _ in 0..MESSAGES {
            let length = accepted.next_message(context.now, &mut self.buffer).min(MAX_MESSAGE_BYTES);
            if length == 0 {
                return;
            }
            let (object, bytes) = (accepted.number, &self.buffer[..length]);
            match accepted.store {
                Incoming::Windowed(_) => {
                    context.send_record(&Record::Message { object, bytes: bytes.to_vec() })
                }
                // the store repeats it
                Incoming::Paced(_) => drop(context.send_datagram(&Datagram::Message { object, bytes })),
            }
        }
    }
}

impl Application for Receiving<'_> {
    const ROLE: Role = Role::Receiver;

    fn send_config(&self) -> SendConfig {
        let controller = Arc::new(quinn_proto::congestion::NewRenoConfig::default());
        SendConfig { controller, payload: PAYLOAD, fixed: false }
    }

    fn open(&mut self, context: &mut SessionContext<'_>) {
        self.paced.open(context.stats);
        (self.group, self.group_idle) = (None, false);
        self.reported_reordering = (0, context.now);
        if let Some(accepted) = &mut self.accepted {
            (accepted.open, accepted.incoming) = (false, None);
        }
    }

    fn on_record(
        &mut self,
        record: Record,
        context: &mut SessionContext<'_>,
    ) -> Result<(), (Reason, String)> {
        match record {
            Record::Offer { object, more, omitted, folders, offer } => self
                .on_offer(object, more, Proposal { folders, omitted, offer }, context)
                .map_err(|why| (Reason::Offer, why)),
            Record::First { object, seq } => {
                if self.accepted.as_ref().is_some_and(|accepted| accepted.number == object) {
                    self.paced.carry_from(seq);
                }
                Ok(())
            }
            Record::Group { address, session, peer, key } if self.group.is_none() => {
                self.on_group_offer(address, session, peer, key, context.now)
            }
            Record::Key { epoch, secret } if self.group.is_some() => {
                if let Some((group, _)) = &mut self.group {
                    group.install(epoch, &secret);
                    context.send_record(&Record::HasKey { epoch });
                }
                Ok(())
            }
            _ => {
                context.stats.discarded.misplaced += 1;
                Ok(())
            }
        }
    }

    fn on_datagram(&mut self, bytes: &[u8], ecn: Ecn, context: &mut SessionContext<'_>) {
        let valid = match (Datagram::read(bytes), &mut self.accepted) {
            (
                Some(Datagram::Packet(Frame::Data(data))),
                Some(Accepted { store: Incoming::Paced(sink), open: true, .. }),
            ) if self.group.is_none() => {
                let framing = Framing::unicast(context.outer_bytes());
                self.paced.on_data(&data, bytes.len(), &framing, ecn, &mut **sink, context)
            }
            _ => false,
        };
        context.stats.discarded.misplaced += u64::from(!valid);
    }

    fn group_to_join(&mut self) -> Option<SocketAddr> {
        self.group_to_join.take()
    }

    fn on_group(&mut self, bytes: &[u8], ecn: Ecn, context: &mut SessionContext<'_>) {
        let framing = framing(self.group.as_ref(), context);
        let Some((group, _)) = &mut self.group else {
            context.stats.discarded.strangers += 1;
            return;
        };
        let Some(content) = group.open(bytes, context.now, context.stats) else { return };
        let valid = match (Datagram::read(content), &mut self.accepted) {
            // a keep-alive
            (None, _) if content.is_empty() => true,
            (
                Some(Datagram::Packet(Frame::Data(data))),
                Some(Accepted { store: Incoming::Paced(sink), open: true, .. }),
            ) => self.paced.on_data(&data, content.len(), &framing, ecn, &mut **sink, context),
            _ => false,
        };
        context.stats.discarded.misplaced += u64::from(!valid);
    }

    fn turn(&mut self, context: &mut SessionContext<'_>) {
        self.read(context);
        self.paced.turn(context);
        self.send_messages(context);
        self.report_reordering(context);
        self.watch_group(context);
    }

    fn wake(&self, now: Time) -> Time {
        let Some(accepted) = self.accepted.as_ref().filter(|accepted| accepted.open) else {
            return Time::NEVER;
        };
        let full = accepted.incoming.as_ref().is_some_and(|incoming| incoming.full);
        accepted.wake().min(self.paced.wake()).min(if full { now + STORE_POLL_INTERVAL } else { Time::NEVER })
    }

    fn paced(&self) -> Option<u64> {
        // a receiver sends no batches
        matches!(&self.accepted, Some(Accepted { store: Incoming::Paced(_), .. })).then_some(0)
    }

    fn on_mode(&mut self, mode: &str, now: Time) {
        self.paced.on_mode(mode, now);
    }

    fn status(&self) -> Status {
        if let Some(why) = &self.failed {
            return Status::Failed(why.clone());
        }
        match &self.accepted {
            Some(accepted) => match accepted.status() {
                Status::Complete if accepted.more => Status::InProgress,
                status => status,
            },
            None => Status::InProgress,
        }
    }

    fn reason(&self) -> Reason {
        if self.failed.is_some() { Reason::Stopped } else { Reason::Storage }
    }

    fn progress(&self) -> Option<u64> {
        // the group has its own timeout
        if self.group_idle {
            return None;
        }
        Some(self.earlier_progress + self.accepted.as_ref().map_or(Some(0), Accepted::progress)?)
    }

    fn pause(&self) -> Pause {
        match &self.accepted {
            Some(accepted) if accepted.more && accepted.status() == Status::Complete => Pause::Remote,
            Some(accepted) => match &accepted.store {
                Incoming::Paced(sink) => sink.pause(),
                Incoming::Windowed(sink) => sink.pause(),
            },
            None => Pause::None,
        }
    }

    fn accepts_other_peers(&self) -> bool {
        self.accepted.as_ref().is_none_or(Accepted::verifies)
    }

    fn reset(&mut self, now: Time) {
        if self.progress() == Some(0)
            && let Some(mut accepted) = self.accepted.take()
        {
            accepted.end(now);
        }
    }

    fn close(&mut self, stats: &mut Stats, now: Time) {
        self.paced.retire(stats);
        if let Some(accepted) = &mut self.accepted {
            accepted.end(now);
        }
    }

    fn show(&self, progress: &Progress) {
        progress.group_unreachable.store(self.group_idle, Ordering::Relaxed);
        if self.paced().is_some() {
            self.paced.show(progress);
        }
    }
}
