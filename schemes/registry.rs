//! The macro that turns the generated block of `lib.rs` into the catalogue and the `Any…` enums.
//!
//! It is expanded in `lib.rs`, whose imports it uses. Each folder it names is declared there as a module.

macro_rules! registry {
    (
        control { $($control:ident : $Control:ident),* $(,)? }
        stream { $($stream:ident : $Stream:ident),* $(,)? }
        router { $($router:ident : $Router:ident),* $(,)? }
        strategy { $($strategy:ident : $Strategy:ident),* $(,)? }
        link { $($link:ident : $Link:ident),* $(,)? }
        app { $($app:ident : $App:ident),* $(,)? }
        forwarder { $($forwarder:ident),* $(,)? }
    ) => {
        /// Every scheme, in the order of names.
        pub fn catalogue() -> Vec<Entry> {
            #[allow(unused_mut, reason = "the registry may be empty")]
            let mut entries = vec![
                $(Entry {
                    scheme: $control::SCHEME,
                    params: <$control::Params as ParamTable>::table,
                    resolve: |given| Ok(<$control::Params as ParamTable>::with(given)?.list()),
                    build: Build::Control(|given, setup| {
                        Ok(AnyControl::$Control($control::control(&ParamTable::with(given)?, setup)))
                    }),
                    strategy: None,
                    link: None,
                    app: None,
                },)*
                $(Entry {
                    scheme: $stream::SCHEME,
                    params: <$stream::Params as ParamTable>::table,
                    resolve: |given| Ok(<$stream::Params as ParamTable>::with(given)?.list()),
                    build: Build::Stream {
                        sender: |given, setup| {
                            Ok(AnySender::$Stream($stream::sender(&ParamTable::with(given)?, setup)))
                        },
                        receiver: |given, setup| {
                            Ok(AnyReceiver::$Stream($stream::receiver(&ParamTable::with(given)?, setup)))
                        },
                        router: None,
                    },
                    strategy: None,
                    link: None,
                    app: None,
                },)*
                $(Entry {
                    scheme: $forwarder::SCHEME,
                    params: <$forwarder::Params as ParamTable>::table,
                    resolve: |given| Ok(<$forwarder::Params as ParamTable>::with(given)?.list()),
                    build: Build::Forwarder,
                    strategy: None,
                    link: None,
                    app: None,
                },)*
            ];
            $(if let Some(entry) = entries.iter_mut().find(|entry| entry.scheme.name == $router::SCHEME.name)
                && let Build::Stream { router, .. } = &mut entry.build
            {
                *router = Some(|given, setup| {
                    Ok(AnyRouter::$Router($router::router(&ParamTable::with(given)?, setup)))
                });
            })*
            $(if let Some(entry) = entries.iter_mut().find(|entry| entry.scheme.name == $strategy::SCHEME.name) {
                entry.strategy = Some(|given, setup| {
                    Ok(AnyStrategy::$Strategy($strategy::strategy(&ParamTable::with(given)?, setup)))
                });
            })*
            $(if let Some(entry) = entries.iter_mut().find(|entry| entry.scheme.name == $link::SCHEME.name) {
                entry.link = Some(|given, setup| {
                    Ok(AnyLink::$Link($link::link(&ParamTable::with(given)?, setup)))
                });
            })*
            $(if let Some(entry) = entries.iter_mut().find(|entry| entry.scheme.name == $app::SCHEME.name) {
                entry.app = Some(|given, setup| {
                    Ok(AnyApp::$App($app::app(&ParamTable::with(given)?, setup)))
                });
            })*
            entries.sort_by_key(|entry: &Entry| entry.scheme.name);
            entries
        }

        /// Any congestion law: the known ones, and one open door.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        pub enum AnyControl {
            $($Control($control::Control),)*
            Custom(Box<dyn CongestionControl + Send>),
        }

        impl CongestionControl for AnyControl {
            #[inline]
            fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
                match self { $(Self::$Control(law) => law.on_ack(ack, cx),)* Self::Custom(law) => law.on_ack(ack, cx) }
            }
            #[inline]
            fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
                match self {
                    $(Self::$Control(law) => law.on_congestion(event, cx),)*
                    Self::Custom(law) => law.on_congestion(event, cx),
                }
            }
            #[inline]
            fn allowance(&self) -> Allowance {
                match self { $(Self::$Control(law) => law.allowance(),)* Self::Custom(law) => law.allowance() }
            }
            fn samples_delivery(&self) -> bool {
                match self { $(Self::$Control(law) => law.samples_delivery(),)* Self::Custom(law) => law.samples_delivery() }
            }
            fn on_delivery(&mut self, delivery: &Delivery, cx: &mut Cx<'_>) {
                match self {
                    $(Self::$Control(law) => law.on_delivery(delivery, cx),)*
                    Self::Custom(law) => law.on_delivery(delivery, cx),
                }
            }
            #[inline]
            fn on_sent(&mut self, sent: &Sent, cx: &mut Cx<'_>) {
                match self { $(Self::$Control(law) => law.on_sent(sent, cx),)* Self::Custom(law) => law.on_sent(sent, cx) }
            }
            #[inline]
            fn on_timer(&mut self, cx: &mut Cx<'_>) {
                match self { $(Self::$Control(law) => law.on_timer(cx),)* Self::Custom(law) => law.on_timer(cx) }
            }
            #[inline]
            fn wake(&self) -> Time {
                match self { $(Self::$Control(law) => law.wake(),)* Self::Custom(law) => law.wake() }
            }
            fn on_spurious(&mut self, cx: &mut Cx<'_>) {
                match self { $(Self::$Control(law) => law.on_spurious(cx),)* Self::Custom(law) => law.on_spurious(cx) }
            }
            fn on_idle(&mut self, idle: Duration, cx: &mut Cx<'_>) {
                match self { $(Self::$Control(law) => law.on_idle(idle, cx),)* Self::Custom(law) => law.on_idle(idle, cx) }
            }
            fn on_access(&mut self, capacity: Rate) {
                match self { $(Self::$Control(law) => law.on_access(capacity),)* Self::Custom(law) => law.on_access(capacity) }
            }
            #[inline]
            fn timeout(&self) -> Option<Duration> {
                match self { $(Self::$Control(law) => law.timeout(),)* Self::Custom(law) => law.timeout() }
            }
            fn threshold(&self) -> Bytes {
                match self { $(Self::$Control(law) => law.threshold(),)* Self::Custom(law) => law.threshold() }
            }
        }

        /// Any stream's part at the source.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        pub enum AnySender {
            $($Stream($stream::Sender),)*
            Custom(Box<dyn SenderLaw + Send>),
        }

        impl SenderLaw for AnySender {
            fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
                match self {
                    $(Self::$Stream(law) => law.on_feedback(feedback, cx),)*
                    Self::Custom(law) => law.on_feedback(feedback, cx),
                }
            }
            #[inline]
            fn allowance(&self) -> Allowance {
                match self { $(Self::$Stream(law) => law.allowance(),)* Self::Custom(law) => law.allowance() }
            }
            fn on_start(&mut self, cx: &mut Cx<'_>) {
                match self { $(Self::$Stream(law) => law.on_start(cx),)* Self::Custom(law) => law.on_start(cx) }
            }
            #[inline]
            fn stamp(&mut self, sending: &Sending, cx: &mut Cx<'_>) -> Label {
                match self { $(Self::$Stream(law) => law.stamp(sending, cx),)* Self::Custom(law) => law.stamp(sending, cx) }
            }
            fn on_idle(&mut self, cx: &mut Cx<'_>) {
                match self { $(Self::$Stream(law) => law.on_idle(cx),)* Self::Custom(law) => law.on_idle(cx) }
            }
            fn on_timer(&mut self, cx: &mut Cx<'_>) {
                match self { $(Self::$Stream(law) => law.on_timer(cx),)* Self::Custom(law) => law.on_timer(cx) }
            }
            #[inline]
            fn wake(&self) -> Time {
                match self { $(Self::$Stream(law) => law.wake(),)* Self::Custom(law) => law.wake() }
            }
            fn on_mode(&mut self, mode: &str, cx: &mut Cx<'_>) {
                match self { $(Self::$Stream(law) => law.on_mode(mode, cx),)* Self::Custom(law) => law.on_mode(mode, cx) }
            }
        }

        /// Any stream's part at a receiver.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[allow(clippy::large_enum_variant, reason = "the known ones are the usual ones, and stay in place")]
        pub enum AnyReceiver {
            $($Stream($stream::Receiver),)*
            Custom(Box<dyn ReceiverLaw + Send>),
        }

        impl ReceiverLaw for AnyReceiver {
            #[inline]
            fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
                match self { $(Self::$Stream(law) => law.on_data(data, cx),)* Self::Custom(law) => law.on_data(data, cx) }
            }
            fn probes(&self) -> bool {
                match self { $(Self::$Stream(law) => law.probes(),)* Self::Custom(law) => law.probes() }
            }
            fn on_access(&mut self, capacity: Rate) {
                match self { $(Self::$Stream(law) => law.on_access(capacity),)* Self::Custom(law) => law.on_access(capacity) }
            }
            fn on_loss(&mut self, gap: &Gap, cx: &mut ReceiverCx<'_, '_>) {
                match self { $(Self::$Stream(law) => law.on_loss(gap, cx),)* Self::Custom(law) => law.on_loss(gap, cx) }
            }
            fn on_start(&mut self, cx: &mut ReceiverCx<'_, '_>) {
                match self { $(Self::$Stream(law) => law.on_start(cx),)* Self::Custom(law) => law.on_start(cx) }
            }
            fn on_timer(&mut self, cx: &mut ReceiverCx<'_, '_>) {
                match self { $(Self::$Stream(law) => law.on_timer(cx),)* Self::Custom(law) => law.on_timer(cx) }
            }
            #[inline]
            fn wake(&self) -> Time {
                match self { $(Self::$Stream(law) => law.wake(),)* Self::Custom(law) => law.wake() }
            }
            fn on_mode(&mut self, mode: &str, cx: &mut ReceiverCx<'_, '_>) {
                match self { $(Self::$Stream(law) => law.on_mode(mode, cx),)* Self::Custom(law) => law.on_mode(mode, cx) }
            }
            fn on_stop(&mut self, cx: &mut ReceiverCx<'_, '_>) {
                match self { $(Self::$Stream(law) => law.on_stop(cx),)* Self::Custom(law) => law.on_stop(cx) }
            }
        }

        /// Any scheme's part in a router.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[allow(clippy::large_enum_variant, reason = "there are few of them, one a router")]
        pub enum AnyRouter {
            $($Router($router::Router),)*
            Custom(Box<dyn RouterLaw + Send>),
        }

        impl RouterLaw for AnyRouter {
            #[inline]
            fn on_arrival(&mut self, packet: &Packet, at: &mut TransitCx<'_>) {
                match self { $(Self::$Router(law) => law.on_arrival(packet, at),)* Self::Custom(law) => law.on_arrival(packet, at) }
            }
            #[inline]
            fn on_enqueue(&mut self, packet: &mut Packet, port: &PortView, at: &mut TransitCx<'_>) {
                match self {
                    $(Self::$Router(law) => law.on_enqueue(packet, port, at),)*
                    Self::Custom(law) => law.on_enqueue(packet, port, at),
                }
            }
            fn on_report(&mut self, report: &Report<'_>, cx: &mut RouterCx<'_, '_, '_>) {
                match self { $(Self::$Router(law) => law.on_report(report, cx),)* Self::Custom(law) => law.on_report(report, cx) }
            }
            fn on_timer(&mut self, cx: &mut RouterCx<'_, '_, '_>) {
                match self { $(Self::$Router(law) => law.on_timer(cx),)* Self::Custom(law) => law.on_timer(cx) }
            }
            #[inline]
            fn wake(&self) -> Time {
                match self { $(Self::$Router(law) => law.wake(),)* Self::Custom(law) => law.wake() }
            }
        }

        /// Any scheme's choice of next hops in a forwarder.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[allow(clippy::large_enum_variant, reason = "there are few of them, one a forwarder")]
        pub enum AnyStrategy {
            $($Strategy($strategy::Strategy),)*
            Custom(Box<dyn Strategy + Send>),
        }

        impl Strategy for AnyStrategy {
            fn on_start(&mut self, cx: &mut dyn StrategyCx) {
                match self { $(Self::$Strategy(law) => law.on_start(cx),)* Self::Custom(law) => law.on_start(cx) }
            }
            #[inline]
            fn on_interest(&mut self, interest: &Arrived<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
                match self {
                    $(Self::$Strategy(law) => law.on_interest(interest, fib, cx),)*
                    Self::Custom(law) => law.on_interest(interest, fib, cx),
                }
            }
            #[inline]
            fn on_data(&mut self, data: &Returned<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
                match self { $(Self::$Strategy(law) => law.on_data(data, fib, cx),)* Self::Custom(law) => law.on_data(data, fib, cx) }
            }
            fn on_nack(&mut self, nack: &Refused<'_>, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
                match self { $(Self::$Strategy(law) => law.on_nack(nack, fib, cx),)* Self::Custom(law) => law.on_nack(nack, fib, cx) }
            }
            fn on_expiry(&mut self, pending: Pending, name: Name, fib: &FibEntry<'_>, cx: &mut dyn StrategyCx) {
                match self {
                    $(Self::$Strategy(law) => law.on_expiry(pending, name, fib, cx),)*
                    Self::Custom(law) => law.on_expiry(pending, name, fib, cx),
                }
            }
            fn on_timer(&mut self, cx: &mut dyn StrategyCx) {
                match self { $(Self::$Strategy(law) => law.on_timer(cx),)* Self::Custom(law) => law.on_timer(cx) }
            }
            #[inline]
            fn wake(&self) -> Time {
                match self { $(Self::$Strategy(law) => law.wake(),)* Self::Custom(law) => law.wake() }
            }
            fn has_deadlines(&self) -> bool {
                match self { $(Self::$Strategy(law) => law.has_deadlines(),)* Self::Custom(law) => law.has_deadlines() }
            }
            fn operations(&self) -> u64 {
                match self { $(Self::$Strategy(law) => law.operations(),)* Self::Custom(law) => law.operations() }
            }
        }

        /// Any scheme's part at the links of a forwarder.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[allow(clippy::large_enum_variant, reason = "there are few of them, one a forwarder")]
        pub enum AnyLink {
            $($Link($link::Link),)*
            Custom(Box<dyn LinkLaw + Send>),
        }

        impl LinkLaw for AnyLink {
            fn on_start(&mut self, cx: &mut dyn LinkCx) {
                match self { $(Self::$Link(law) => law.on_start(cx),)* Self::Custom(law) => law.on_start(cx) }
            }
            #[inline]
            fn on_interest_in(&mut self, interest: &Packet, from: FaceId, cx: &mut dyn LinkCx) {
                match self {
                    $(Self::$Link(law) => law.on_interest_in(interest, from, cx),)*
                    Self::Custom(law) => law.on_interest_in(interest, from, cx),
                }
            }
            #[inline]
            fn on_interest(&mut self, interest: &mut Packet, way: &mut Crossing, cx: &mut dyn LinkCx) -> Admission {
                match self {
                    $(Self::$Link(law) => law.on_interest(interest, way, cx),)*
                    Self::Custom(law) => law.on_interest(interest, way, cx),
                }
            }
            #[inline]
            fn on_data_in(&mut self, data: &mut Packet, way: &Return, cx: &mut dyn LinkCx) {
                match self { $(Self::$Link(law) => law.on_data_in(data, way, cx),)* Self::Custom(law) => law.on_data_in(data, way, cx) }
            }
            #[inline]
            fn on_data_out(&mut self, data: &mut Packet, way: &Crossing, cx: &mut dyn LinkCx) {
                match self { $(Self::$Link(law) => law.on_data_out(data, way, cx),)* Self::Custom(law) => law.on_data_out(data, way, cx) }
            }
            fn on_nack_in(&mut self, nack: &mut Packet, from: FaceId, cx: &mut dyn LinkCx) {
                match self { $(Self::$Link(law) => law.on_nack_in(nack, from, cx),)* Self::Custom(law) => law.on_nack_in(nack, from, cx) }
            }
            fn watches(&self) -> bool {
                match self { $(Self::$Link(law) => law.watches(),)* Self::Custom(law) => law.watches() }
            }
            #[inline]
            fn on_enqueue(&mut self, packet: &mut Packet, to: FaceId, port: &PortView, at: &mut TransitCx<'_>) {
                match self {
                    $(Self::$Link(law) => law.on_enqueue(packet, to, port, at),)*
                    Self::Custom(law) => law.on_enqueue(packet, to, port, at),
                }
            }
            fn watches_departures(&self) -> bool {
                match self { $(Self::$Link(law) => law.watches_departures(),)* Self::Custom(law) => law.watches_departures() }
            }
            #[inline]
            fn on_dequeue(&mut self, packet: &mut Packet, to: FaceId, port: &PortView, waited: Duration, at: &mut TransitCx<'_>) {
                match self {
                    $(Self::$Link(law) => law.on_dequeue(packet, to, port, waited, at),)*
                    Self::Custom(law) => law.on_dequeue(packet, to, port, waited, at),
                }
            }
            fn on_timer(&mut self, cx: &mut dyn LinkCx) {
                match self { $(Self::$Link(law) => law.on_timer(cx),)* Self::Custom(law) => law.on_timer(cx) }
            }
            #[inline]
            fn wake(&self) -> Time {
                match self { $(Self::$Link(law) => law.wake(),)* Self::Custom(law) => law.wake() }
            }
            fn has_deadlines(&self) -> bool {
                match self { $(Self::$Link(law) => law.has_deadlines(),)* Self::Custom(law) => law.has_deadlines() }
            }
            fn operations(&self) -> u64 {
                match self { $(Self::$Link(law) => law.operations(),)* Self::Custom(law) => law.operations() }
            }
        }

        /// Any scheme's part in an SDN controller.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[allow(clippy::large_enum_variant, reason = "there is one of them")]
        pub enum AnyApp {
            $($App($app::App),)*
            Custom(Box<dyn App + Send>),
        }

        impl App for AnyApp {
            fn wants(&self) -> Wants {
                match self { $(Self::$App(app) => app.wants(),)* Self::Custom(app) => app.wants() }
            }
            fn on_start(&mut self, cx: &mut AppCx<'_, '_>) {
                match self { $(Self::$App(app) => app.on_start(cx),)* Self::Custom(app) => app.on_start(cx) }
            }
            fn on_status(&mut self, port: PortId, cx: &mut AppCx<'_, '_>) {
                match self { $(Self::$App(app) => app.on_status(port, cx),)* Self::Custom(app) => app.on_status(port, cx) }
            }
            fn on_signal(&mut self, port: PortId, cx: &mut AppCx<'_, '_>) {
                match self { $(Self::$App(app) => app.on_signal(port, cx),)* Self::Custom(app) => app.on_signal(port, cx) }
            }
            fn on_link(&mut self, port: PortId, cx: &mut AppCx<'_, '_>) {
                match self { $(Self::$App(app) => app.on_link(port, cx),)* Self::Custom(app) => app.on_link(port, cx) }
            }
            fn on_timer(&mut self, cx: &mut AppCx<'_, '_>) {
                match self { $(Self::$App(app) => app.on_timer(cx),)* Self::Custom(app) => app.on_timer(cx) }
            }
            fn wake(&self) -> Time {
                match self { $(Self::$App(app) => app.wake(),)* Self::Custom(app) => app.wake() }
            }
        }
    };
}
pub(crate) use registry;
