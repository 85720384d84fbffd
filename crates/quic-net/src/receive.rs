//! The receiving end: accepts objects, stores them, and answers the sender.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::{Control, Limits, Outcome, Progress, Stats};
use contract::Ecn;
use driver::Platform;
use transfer::{Incoming, MAX_MESSAGE_BYTES, Status, Waits};
use units::{Duration, Time};
use wire::stream::{Frame, Offer, Reason, Role, Transport};

use crate::frames::{Datagram, Record};
use crate::group::{self, Reception};
use crate::lane::Link;
use crate::paced::{Framing, PacedReceiver};
use crate::send::find;
use crate::session::{Work, run};
use crate::settings::{Accept, Proposal, Settings};
use crate::stream::ReceiveStream;
use crate::transport::Sends;

/// Maximum number of messages of the store at a time.
const MESSAGES: usize = 4;
/// Interval at which a store that takes no more is tried again.
const AGAIN: Duration = Duration::from_millis(2);
/// Maximum payload of a UDP datagram that this end sends: messages and acknowledgements are small.
const PAYLOAD: u16 = 1452;

/// Receives what `accept` accepts from one sender, and returns at the end. The sender says whether its data come by a multicast group, which this end
/// then joins.
pub fn receive(
    settings: &Settings,
    accept: Accept<'_>,
    platform: &mut impl Platform,
    control: &Control,
) -> Outcome {
    run(settings, Receiving::new(accept, settings.limits), platform, control)
}

/// The work of a receiver.
struct Receiving<'a> {
    accept: Accept<'a>,
    /// The object that was accepted last, and where it goes.
    agreed: Option<Agreed>,
    /// Measure of what had come of the objects before.
    moved_before: u64,
    paced: PacedReceiver,
    limits: Limits,
    /// The group by which data come, this end's number in it, and the group's address until it is joined.
    group: Option<(Reception, u32)>,
    joins: Option<SocketAddr>,
    /// Nothing of the group has arrived for the silence, and the sender knows.
    deaf: bool,
    failed: Option<String>,
    room: Box<[u8; MAX_MESSAGE_BYTES]>,
}

/// An accepted object.
struct Agreed {
    number: u32,
    proposal: Proposal,
    more: bool,
    store: Incoming,
    /// Its stream on the present connection.
    incoming: Option<ReceiveStream>,
    /// The present connection knows of it.
    open: bool,
}

impl Agreed {
    fn status(&self) -> Status {
        match &self.store {
            Incoming::Paced(sink) => sink.status(),
            Incoming::Windowed(sink) => sink.status(),
        }
    }

    fn moved(&self) -> Option<u64> {
        match &self.store {
            Incoming::Paced(sink) => sink.moved(),
            Incoming::Windowed(sink) => sink.moved(),
        }
    }

    fn verifies(&self) -> bool {
        match &self.store {
            Incoming::Paced(sink) => sink.verifies(),
            Incoming::Windowed(sink) => sink.verifies(),
        }
    }

    /// Whether this is offered again.
    fn is(&self, number: u32, proposal: &Proposal) -> bool {
        let what = |proposal: &Proposal| {
            let Offer { about, transport, size, .. } = proposal.offer.clone();
            (proposal.folders.clone(), about, transport, size)
        };
        self.number == number && what(&self.proposal) == what(proposal)
    }

    fn begin(&mut self, link: &Link<'_>) {
        let binding = link.binding();
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

    fn speak(&mut self, now: Time, room: &mut [u8; MAX_MESSAGE_BYTES]) -> usize {
        match &mut self.store {
            Incoming::Paced(sink) => sink.speak(now, room),
            Incoming::Windowed(sink) => sink.speak(now, room),
        }
    }

    fn wake(&self) -> Time {
        match &self.store {
            Incoming::Paced(sink) => sink.wake(),
            Incoming::Windowed(sink) => sink.wake(),
        }
    }
}

/// How packets of data come: by a group, or in the connection.
fn framing(group: Option<&(Reception, u32)>, link: &Link<'_>) -> Framing {
    match group {
        Some((group, peer)) => {
            let (me, outer_bytes) = (group::receiver(*peer), group.outer_bytes());
            Framing { me, outer_bytes, around: group::AROUND, begins: None }
        }
        None => Framing::unicast(link.outer_bytes()),
    }
}

impl<'a> Receiving<'a> {
    fn new(accept: Accept<'a>, limits: Limits) -> Self {
        Self {
            accept,
            agreed: None,
            moved_before: 0,
            paced: PacedReceiver::default(),
            limits,
            group: None,
            joins: None,
            deaf: false,
            failed: None,
            room: Box::new([0; MAX_MESSAGE_BYTES]),
        }
    }

    /// Accepts an offer, or says why not.
    fn on_offer(
        &mut self,
        number: u32,
        more: bool,
        proposal: Proposal,
        link: &mut Link<'_>,
    ) -> Result<(), String> {
        if self.agreed.as_ref().is_some_and(|agreed| !agreed.is(number, &proposal)) {
            self.put_away(link.now)?;
        }
        let agreed = match &mut self.agreed {
            Some(agreed) => agreed,
            None => {
                let store = self.choose(&proposal)?;
                self.agreed.insert(Agreed { number, proposal, more, store, incoming: None, open: false })
            }
        };
        if !agreed.open {
            if matches!(agreed.store, Incoming::Paced(_)) {
                let framing = framing(self.group.as_ref(), link);
                self.paced.join(&agreed.proposal.offer, &framing, link)?;
            }
            agreed.begin(link);
            link.say(&Record::Ready { object: number });
        }
        Ok(())
    }

    /// The object before is complete, or another sender offers something else.
    fn put_away(&mut self, now: Time) -> Result<(), String> {
        let Some(mut agreed) = self.agreed.take() else { return Ok(()) };
        let open = agreed.open;
        if agreed.status() != Status::Whole && open {
            self.agreed = Some(agreed);
            return Err("something else is offered before the last object is complete".to_owned());
        }
        self.moved_before += agreed.moved().unwrap_or(0);
        agreed.end(now);
        Ok(())
    }

    fn choose(&mut self, proposal: &Proposal) -> Result<Incoming, String> {
        let (entry, transport) = find(&proposal.offer.scheme)?;
        (entry.resolve)(&proposal.offer.params).map_err(crate::send::say)?;
        let fits = |store: &Incoming| match store {
            Incoming::Paced(_) => transport == Transport::Paced,
            Incoming::Windowed(_) => transport == Transport::Windowed,
        };
        for folder in &proposal.folders {
            transfer::check_name(folder).map_err(|why| format!("the folder {folder:?}: {why}"))?;
        }
        let store = (self.accept)(proposal)?;
        if transport != proposal.offer.transport || !fits(&store) {
            return Err(format!("`{}` does not carry data so", entry.scheme.name));
        }
        Ok(store)
    }

    /// The sender says that its data come by a group.
    fn on_group_offer(
        &mut self,
        address: SocketAddr,
        session: u32,
        peer: u32,
        now: Time,
    ) -> Result<(), (Reason, String)> {
        if !address.ip().is_multicast() {
            return Err((Reason::Offer, format!("{address} is the address of no group")));
        }
        self.group = Some((Reception::new(address, session, now), peer));
        self.joins = Some(address);
        Ok(())
    }

    /// Tells the sender where nothing of the group arrives for the silence, and gives up after the patience.
    fn watch_group(&mut self, link: &mut Link<'_>) {
        let Some((group, _)) = &self.group else { return };
        let deaf = group.deaf(link.now, self.limits.silence);
        if deaf != self.deaf {
            self.deaf = deaf;
            link.say(&Record::Hears(!deaf));
        }
        if group.deaf(link.now, self.limits.patience) {
            self.failed.get_or_insert_with(|| group.complaint());
        }
    }

    /// Reads the stream of the object.
    fn read(&mut self, link: &mut Link<'_>) {
        let Some(Agreed { number, store: Incoming::Windowed(sink), incoming, open: true, .. }) =
            &mut self.agreed
        else {
            return;
        };
        if incoming.is_none() {
            *incoming = ReceiveStream::accept(link.connection);
        }
        let Some(stream) = incoming else { return };
        let before = stream.taken();
        let of_this = stream.read(*number, &mut **sink, link);
        link.stats.content += stream.taken() - before;
        if !of_this {
            *incoming = None;
        }
    }

    /// Says what the store has to say.
    fn speak(&mut self, link: &mut Link<'_>) {
        let Some(agreed) = self.agreed.as_mut().filter(|agreed| agreed.open) else { return };
        for _ in 0..MESSAGES {
            let length = agreed.speak(link.now, &mut self.room).min(MAX_MESSAGE_BYTES);
            if length == 0 {
                return;
            }
            let (object, bytes) = (agreed.number, &self.room[..length]);
            match agreed.store {
                Incoming::Windowed(_) => link.say(&Record::Message { object, bytes: bytes.to_vec() }),
                // it is repeated by itself
                Incoming::Paced(_) => drop(link.send(&Datagram::Message { object, bytes })),
            }
        }
    }
}

impl Work for Receiving<'_> {
    const ROLE: Role = Role::Receiver;

    fn sends(&self) -> Sends {
        let controller = Arc::new(quinn_proto::congestion::NewRenoConfig::default());
        Sends { controller, payload: PAYLOAD, fixed: false }
    }

    fn open(&mut self, link: &mut Link<'_>) {
        self.paced.open(link.stats);
        (self.group, self.deaf) = (None, false);
        if let Some(agreed) = &mut self.agreed {
            (agreed.open, agreed.incoming) = (false, None);
        }
    }

    fn on_record(&mut self, record: Record, link: &mut Link<'_>) -> Result<(), (Reason, String)> {
        match record {
            Record::Offer { object, more, folders, offer } => self
                .on_offer(object, more, Proposal { folders, offer }, link)
                .map_err(|why| (Reason::Offer, why)),
            Record::First { object, seq } => {
                if self.agreed.as_ref().is_some_and(|agreed| agreed.number == object) {
                    self.paced.carry_from(seq);
                }
                Ok(())
            }
            Record::Group { address, session, peer } if self.group.is_none() => {
                self.on_group_offer(address, session, peer, link.now)
            }
            Record::Key { epoch, secret } if self.group.is_some() => {
                if let Some((group, _)) = &mut self.group {
                    group.install(epoch, &secret);
                    link.say(&Record::HasKey { epoch });
                }
                Ok(())
            }
            _ => {
                link.stats.discarded.misplaced += 1;
                Ok(())
            }
        }
    }

    fn on_datagram(&mut self, bytes: &[u8], ecn: Ecn, link: &mut Link<'_>) {
        let taken = match (Datagram::read(bytes), &mut self.agreed) {
            (
                Some(Datagram::Packet(Frame::Data(data))),
                Some(Agreed { store: Incoming::Paced(sink), open: true, .. }),
            ) if self.group.is_none() => {
                let framing = Framing::unicast(link.outer_bytes());
                self.paced.on_data(&data, bytes.len(), &framing, ecn, &mut **sink, link)
            }
            _ => false,
        };
        link.stats.discarded.misplaced += u64::from(!taken);
    }

    fn joins(&mut self) -> Option<SocketAddr> {
        self.joins.take()
    }

    fn on_group(&mut self, bytes: &[u8], ecn: Ecn, link: &mut Link<'_>) {
        let framing = framing(self.group.as_ref(), link);
        let Some((group, _)) = &mut self.group else {
            link.stats.discarded.strangers += 1;
            return;
        };
        let Some(content) = group.open(bytes, link.now, link.stats) else { return };
        let taken = match (Datagram::read(content), &mut self.agreed) {
            // a keep-alive
            (None, _) if content.is_empty() => true,
            (
                Some(Datagram::Packet(Frame::Data(data))),
                Some(Agreed { store: Incoming::Paced(sink), open: true, .. }),
            ) => self.paced.on_data(&data, content.len(), &framing, ecn, &mut **sink, link),
            _ => false,
        };
        link.stats.discarded.misplaced += u64::from(!taken);
    }

    fn turn(&mut self, link: &mut Link<'_>) {
        self.read(link);
        self.paced.turn(link);
        self.speak(link);
        self.watch_group(link);
    }

    fn wake(&self, now: Time) -> Time {
        let Some(agreed) = self.agreed.as_ref().filter(|agreed| agreed.open) else { return Time::NEVER };
        let full = agreed.incoming.as_ref().is_some_and(|incoming| incoming.full);
        agreed.wake().min(self.paced.wake()).min(if full { now + AGAIN } else { Time::NEVER })
    }

    fn paced(&self) -> Option<u64> {
        // nothing that leaves here leaves in batches
        matches!(&self.agreed, Some(Agreed { store: Incoming::Paced(_), .. })).then_some(0)
    }

    fn on_mode(&mut self, mode: &str, now: Time) {
        self.paced.on_mode(mode, now);
    }

    fn status(&self) -> Status {
        if let Some(why) = &self.failed {
            return Status::Failed(why.clone());
        }
        match &self.agreed {
            Some(agreed) => match agreed.status() {
                Status::Whole if agreed.more => Status::Going,
                status => status,
            },
            None => Status::Going,
        }
    }

    fn reason(&self) -> Reason {
        if self.failed.is_some() { Reason::Stopped } else { Reason::Storage }
    }

    fn moved(&self) -> Option<u64> {
        // the group has a limit of its own
        if self.deaf {
            return None;
        }
        Some(self.moved_before + self.agreed.as_ref().map_or(Some(0), Agreed::moved)?)
    }

    fn waits(&self) -> Waits {
        match &self.agreed {
            Some(agreed) if agreed.more && agreed.status() == Status::Whole => Waits::There,
            Some(agreed) => match &agreed.store {
                Incoming::Paced(sink) => sink.waits(),
                Incoming::Windowed(sink) => sink.waits(),
            },
            None => Waits::Nobody,
        }
    }

    fn takes_others(&self) -> bool {
        self.agreed.as_ref().is_none_or(Agreed::verifies)
    }

    fn forget(&mut self, now: Time) {
        if self.moved() == Some(0)
            && let Some(mut agreed) = self.agreed.take()
        {
            agreed.end(now);
        }
    }

    fn close(&mut self, stats: &mut Stats, now: Time) {
        self.paced.retire(stats);
        if let Some(agreed) = &mut self.agreed {
            agreed.end(now);
        }
    }

    fn show(&self, progress: &Progress) {
        progress.deaf.store(self.deaf, Ordering::Relaxed);
        if self.paced().is_some() {
            self.paced.show(progress);
        }
    }
}
