//! A connection as two sans-IO endpoints of the simulator.

use std::sync::{Arc, Mutex};

use bytes::{Bytes as Chunk, BytesMut};
use contract::{Count, Cx, Destination, Ecn, Endpoint, Header, Input, Label, Packet, Random, Request};
use stack::log::{Log, Writer};
use units::{Bytes, Time};

use crate::clock::{self, Clock};
use crate::secrets::drawn;
use crate::tap::{Observations, Shared, lock};
use crate::tls::seeded;
use crate::wire::DatagramStore;
use crate::{Config, Controller, Counters, FlowControl, HEADERS, Secrets, Stack, Transmit, controllers};

/// The sender: a client that opens a stream and uploads.
pub(crate) struct Client<S> {
    controller: Controller,
    flow_control: FlowControl,
    peer: Peer<S>,
    /// Bytes that the application has not given to the stream.
    left: u64,
    /// Bytes that the receiver has requested, if it requests them; the stream then has no end.
    requested: Option<u64>,
    observations: Shared,
    /// Counters: packets declared lost, and episodes.
    counted: (u64, u64),
    /// There was a sample of the round-trip time.
    has_rtt: bool,
}

/// The receiver: a server that reads the stream.
pub(crate) struct Server<S>(Peer<S>, FlowControl);

/// What both have.
struct Peer<S> {
    to: Destination,
    out: DatagramStore,
    incoming: DatagramStore,
    mtu: u64,
    /// The stack, and random numbers of TLS.
    stack: Option<(S, Random)>,
    deadline: Time,
    running: bool,
    /// Datagrams that the stack wrote and that were not yet sent.
    buffer: Vec<u8>,
    /// Where the log of departures is; the sender's, if its flow has one.
    log: Option<Shared>,
}

impl<S: Stack> Client<S> {
    pub(crate) fn new(
        config: &Config,
        log: Option<Log>,
        to: Destination,
        out: DatagramStore,
        incoming: DatagramStore,
    ) -> Self {
        let logged = log.is_some();
        let observations =
            Arc::new(Mutex::new(Observations { log: log.map(Writer::new), ..Observations::default() }));
        Self {
            controller: config.controller.clone(),
            flow_control: config.flow_control,
            peer: Peer {
                log: logged.then(|| observations.clone()),
                ..Peer::new(config.mtu, to, out, incoming)
            },
            left: config.size.as_u64(),
            requested: (config.size == Bytes::ZERO).then_some(0),
            observations,
            counted: (0, 0),
            has_rtt: false,
        }
    }

    fn connect(&mut self, cx: &mut Cx<'_>) {
        let seed = cx.random().bits();
        let controllers =
            controllers::<S>(&self.controller, seed).expect("it was made once when the flow was checked");
        let first_id = drawn(cx.random());
        let (observations, now) = (self.observations.clone(), CLOCK.instant(cx.now()));
        let flow_control = self.flow_control;
        self.peer
            .begin(cx, |secrets| S::connect(controllers, flow_control, observations, first_id, secrets, now));
    }

    /// Gives the stream as much as it takes, and finishes it after the last byte.
    fn upload(&mut self, cx: &mut Cx<'_>) {
        let Some((stack, _)) = &mut self.peer.stack else { return };
        if stack.delivered() {
            cx.complete();
            stack.close(CLOCK.instant(cx.now()));
        }
        if self.left == 0 || !stack.writable() {
            return;
        }
        while self.left > 0 {
            let size = usize::try_from(self.left).map_or(CONTENT.len(), |left| left.min(CONTENT.len()));
            let Some(written) = stack.write(Chunk::from_static(&CONTENT[..size])) else { return };
            self.left -= written as u64;
        }
        if self.requested.is_none() {
            stack.finish();
        }
    }

    /// Takes a request of the receiver's application, which may be repeated or late.
    fn on_request(&mut self, total: u64) {
        if let Some(requested) = &mut self.requested {
            self.left += total.saturating_sub(*requested);
            *requested = total.max(*requested);
        }
    }

    /// What the stack counts, also in the log.
    fn counters(&mut self, cx: &Cx<'_>) -> Option<Counters> {
        let counters = self.peer.stack.as_mut().and_then(|(stack, _)| stack.counters())?;
        lock(&self.observations).write_metrics(cx.now(), &counters);
        Some(counters)
    }

    fn report(&mut self, cx: &mut Cx<'_>) {
        let (rtt, episodes, in_flight, ssthresh) = {
            let mut observations = lock(&self.observations);
            (observations.rtt.take(), observations.episodes, observations.in_flight, observations.ssthresh)
        };
        if let Some(rtt) = rtt {
            self.has_rtt = true;
            cx.measured_rtt(rtt);
            if cx.probing() {
                cx.probe("rtt", rtt.as_secs_f64());
            }
        }
        let Some(counters) = self.counters(cx) else { return };
        cx.count(Count::Retransmits, counters.lost - self.counted.0);
        cx.count(Count::Episodes, episodes - self.counted.1);
        self.counted = (counters.lost, episodes);
        if !cx.probing() {
            return;
        }
        cx.probe("window", counters.window as f64);
        cx.probe("in_flight", in_flight as f64);
        if self.has_rtt {
            cx.probe("srtt", counters.srtt.as_secs_f64());
        }
        if let Some(ssthresh) = ssthresh.filter(|ssthresh| *ssthresh < u64::MAX) {
            cx.probe("ssthresh", ssthresh as f64);
        }
    }
}

impl<S: Stack> Endpoint for Client<S> {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        lock(&self.observations).now = cx.now();
        match input {
            Input::Start if !self.peer.running => self.connect(cx),
            Input::Stop => return self.peer.stop(),
            Input::Packet(Packet { header: Header::Request { total, .. }, .. }) => self.on_request(*total),
            Input::Packet(packet) => self.peer.receive(packet, cx),
            Input::App(Request::Send(bytes)) => self.left = self.left.saturating_add(bytes.as_u64()),
            Input::Start | Input::Timer | Input::Mode(_) => {}
        }
        self.peer.expire(cx.now());
        self.upload(cx);
        self.peer.transmit(cx);
        self.report(cx);
        self.peer.report_lost(cx);
    }

    fn wake(&self) -> Time {
        self.peer.deadline
    }

    fn take_payload(&mut self, packet: &Packet, payload: &mut Vec<u8>) -> bool {
        self.peer.take_payload(packet, payload)
    }

    fn put_payload(&mut self, payload: &[u8], now: Time) -> Option<Header> {
        Some(self.peer.put_payload(payload, now))
    }
}

impl<S: Stack> Server<S> {
    pub(crate) fn new(
        mtu: Bytes,
        flow_control: FlowControl,
        to: Destination,
        out: DatagramStore,
        incoming: DatagramStore,
    ) -> Self {
        Self(Peer::new(mtu, to, out, incoming), flow_control)
    }

    fn listen(&mut self, cx: &mut Cx<'_>) {
        let (token_key, flow_control) = (drawn(cx.random()), self.1);
        self.0.begin(cx, |secrets| S::listen(token_key, flow_control, secrets));
    }

    /// Reads what has arrived.
    fn read(&mut self, cx: &mut Cx<'_>) {
        let Some((stack, _)) = &mut self.0.stack else { return };
        if stack.read(|size| cx.deliver(Bytes::new(size))) {
            cx.complete();
        }
    }
}

impl<S: Stack> Endpoint for Server<S> {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start if !self.0.running => self.listen(cx),
            Input::Stop => return self.0.stop(),
            Input::Packet(packet) => {
                if packet.ecn == Ecn::Marked {
                    cx.count(Count::Marks, 1);
                }
                self.0.receive(packet, cx);
            }
            Input::Start | Input::Timer | Input::Mode(_) | Input::App(_) => {}
        }
        self.0.expire(cx.now());
        self.read(cx);
        self.0.transmit(cx);
        self.0.report_lost(cx);
    }

    fn wake(&self) -> Time {
        self.0.deadline
    }

    fn take_payload(&mut self, packet: &Packet, payload: &mut Vec<u8>) -> bool {
        self.0.take_payload(packet, payload)
    }

    fn put_payload(&mut self, payload: &[u8], now: Time) -> Option<Header> {
        Some(self.0.put_payload(payload, now))
    }
}

impl<S: Stack> Peer<S> {
    fn new(mtu: Bytes, to: Destination, out: DatagramStore, incoming: DatagramStore) -> Self {
        let mtu = mtu.saturating_sub(HEADERS).as_u64();
        let (stack, deadline, running, buffer) = (None, Time::NEVER, false, Vec::new());
        Self { to, out, incoming, mtu, stack, deadline, running, buffer, log: None }
    }

    fn begin(&mut self, cx: &mut Cx<'_>, make: impl FnOnce(Secrets) -> S) {
        let secrets = Secrets::draw(cx.random());
        let mut random = Random::new(cx.random().bits(), "tls", "");
        let stack = seeded(&mut random, || make(secrets));
        self.stack = Some((stack, random));
        self.running = true;
    }

    /// Falls silent, as a host that is switched off.
    fn stop(&mut self) {
        (self.stack, self.running, self.deadline) = (None, false, Time::NEVER);
    }

    /// Reports that the stack lost the connection. What it still had to send has left.
    fn report_lost(&mut self, cx: &mut Cx<'_>) {
        if let Some(reason) = self.stack.as_mut().and_then(|(stack, _)| stack.lost()) {
            cx.lose_connection(reason);
        }
    }

    /// A datagram arrived.
    fn receive(&mut self, packet: &Packet, cx: &mut Cx<'_>) {
        let Header::Datagram { seq } = packet.header else { return cx.count(Count::Ignored, 1) };
        let (Some((stack, random)), Some(datagram)) = (&mut self.stack, self.incoming.take(seq)) else {
            return cx.count(Count::Ignored, 1);
        };
        self.buffer.clear();
        let (now, buffer) = (CLOCK.instant(cx.now()), &mut self.buffer);
        if let Some(answer) = seeded(random, || stack.receive(now, packet.ecn, datagram, buffer)) {
            self.send(&answer, cx);
        }
    }

    /// The bytes of a datagram that leaves over a socket instead of the simulated network.
    fn take_payload(&self, packet: &Packet, payload: &mut Vec<u8>) -> bool {
        let Header::Datagram { seq } = packet.header else { return false };
        let Some(datagram) = self.out.take(seq) else { return false };
        payload.clear();
        payload.extend_from_slice(&datagram);
        true
    }

    /// Stores a datagram of a socket. Returns its number.
    fn put_payload(&self, payload: &[u8], now: Time) -> Header {
        Header::Datagram { seq: self.incoming.put(BytesMut::from(payload), now) }
    }

    /// Handles a deadline that has expired, and passes events between the state machines of the stack.
    fn expire(&mut self, now: Time) {
        let Some((stack, random)) = &mut self.stack else { return };
        if self.deadline <= now {
            seeded(random, || stack.expire(CLOCK.instant(now)));
        }
        stack.exchange();
    }

    /// Sends what the stack permits now, and reads its next deadline.
    fn transmit(&mut self, cx: &mut Cx<'_>) {
        let now = CLOCK.instant(cx.now());
        loop {
            self.buffer.clear();
            let Some((stack, random)) = &mut self.stack else { return };
            let buffer = &mut self.buffer;
            let Some(transmit) = seeded(random, || stack.transmit(now, BATCH, buffer)) else { break };
            self.send(&transmit, cx);
        }
        let deadline = self.stack.as_mut().and_then(|(stack, _)| stack.deadline());
        self.deadline = deadline.map_or(Time::NEVER, |at| CLOCK.time(at));
    }

    /// Sends the datagrams in the buffer.
    fn send(&mut self, transmit: &Transmit, cx: &mut Cx<'_>) {
        let ecn = if transmit.ecn { Ecn::Capable } else { Ecn::NotCapable };
        let each = transmit.each.unwrap_or(transmit.size).max(1);
        for datagram in self.buffer[..transmit.size].chunks(each) {
            let size = datagram.len() as u64;
            // a router that may not fragment it drops it                                [RFC9000 §14]
            if size <= self.mtu {
                let seq = self.out.put(BytesMut::from(datagram), cx.now());
                let size = Bytes::new(size) + HEADERS;
                cx.send(self.to, size, ecn, Header::Datagram { seq }, Label::default());
                if let Some(log) =
                    self.log.as_ref().map(lock).as_mut().and_then(|observations| observations.log.as_mut())
                {
                    log.sent(cx.now(), size);
                }
            }
        }
    }
}

static CLOCK: Clock = Clock::new(clock::now);

/// The data of an upload.
static CONTENT: [u8; 1 << 16] = [0; 1 << 16];

/// Datagrams that a stack writes at once, as the drivers of quinn and noq over sockets with segmentation offload.
const BATCH: usize = 10;
