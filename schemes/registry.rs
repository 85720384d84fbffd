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
        /// Every scheme of this crate, in the order of names.
        fn built_in() -> Vec<Entry> {
            #[allow(unused_mut, reason = "the registry may be empty")]
            let mut entries = vec![
                $(Entry {
                    scheme: $control::SCHEME,
                    params: &<$control::Params as ParamTable>::table,
                    resolve: &|given| Ok(<$control::Params as ParamTable>::with(given)?.list()),
                    build: Build::Control(&|given, setup| {
                        Ok(AnyControl::$Control($control::control(&ParamTable::with(given)?, setup)))
                    }),
                    strategy: None,
                    link: None,
                    app: None,
                },)*
                $(Entry {
                    scheme: $stream::SCHEME,
                    params: &<$stream::Params as ParamTable>::table,
                    resolve: &|given| Ok(<$stream::Params as ParamTable>::with(given)?.list()),
                    build: Build::Stream {
                        sender: &|given, setup| {
                            Ok(AnySender::$Stream($stream::sender(&ParamTable::with(given)?, setup)))
                        },
                        receiver: &|given, setup| {
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
                    params: &<$forwarder::Params as ParamTable>::table,
                    resolve: &|given| Ok(<$forwarder::Params as ParamTable>::with(given)?.list()),
                    build: Build::Forwarder,
                    strategy: None,
                    link: None,
                    app: None,
                },)*
            ];
            $(if let Some(entry) = entries.iter_mut().find(|entry| entry.scheme.name == $router::SCHEME.name)
                && let Build::Stream { router, .. } = &mut entry.build
            {
                *router = Some(&|given, setup| {
                    Ok(AnyRouter::$Router($router::router(&ParamTable::with(given)?, setup)))
                });
            })*
            $(if let Some(entry) = entries.iter_mut().find(|entry| entry.scheme.name == $strategy::SCHEME.name) {
                entry.strategy = Some(&|given, setup| {
                    Ok(AnyStrategy::$Strategy($strategy::strategy(&ParamTable::with(given)?, setup)))
                });
            })*
            $(if let Some(entry) = entries.iter_mut().find(|entry| entry.scheme.name == $link::SCHEME.name) {
                entry.link = Some(&|given, setup| {
                    Ok(AnyLink::$Link($link::link(&ParamTable::with(given)?, setup)))
                });
            })*
            $(if let Some(entry) = entries.iter_mut().find(|entry| entry.scheme.name == $app::SCHEME.name) {
                entry.app = Some(&|given, setup| {
                    Ok(AnyApp::$App($app::app(&ParamTable::with(given)?, setup)))
                });
            })*
            entries.sort_by_key(|entry: &Entry| entry.scheme.name);
            entries
        }

        /// Any congestion controller: the known ones, and one open door.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[derive(Delegate)]
        #[delegate(CongestionControl)]
        pub enum AnyControl {
            $($Control($control::Control),)*
            Custom(Box<dyn CongestionControl + Send>),
        }

        /// Any stream's part at the source.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[derive(Delegate)]
        #[delegate(SenderAlgorithm)]
        pub enum AnySender {
            $($Stream($stream::Sender),)*
            Custom(Box<dyn SenderAlgorithm + Send>),
        }

        /// Any stream's part at a receiver.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[allow(clippy::large_enum_variant, reason = "the known ones are the usual ones, and stay in place")]
        #[derive(Delegate)]
        #[delegate(ReceiverAlgorithm)]
        pub enum AnyReceiver {
            $($Stream($stream::Receiver),)*
            Custom(Box<dyn ReceiverAlgorithm + Send>),
        }

        /// Any scheme's part in a router.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[allow(clippy::large_enum_variant, reason = "there are few of them, one per router")]
        #[derive(Delegate)]
        #[delegate(RouterAlgorithm)]
        pub enum AnyRouter {
            $($Router($router::Router),)*
            Custom(Box<dyn RouterAlgorithm + Send>),
        }

        /// Any scheme's choice of next hops in a forwarder.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[allow(clippy::large_enum_variant, reason = "there are few of them, one per forwarder")]
        #[derive(Delegate)]
        #[delegate(Strategy)]
        pub enum AnyStrategy {
            $($Strategy($strategy::Strategy),)*
            Custom(Box<dyn Strategy + Send>),
        }

        /// Any scheme's part at the links of a forwarder.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[allow(clippy::large_enum_variant, reason = "there are few of them, one per forwarder")]
        #[derive(Delegate)]
        #[delegate(LinkAlgorithm)]
        pub enum AnyLink {
            $($Link($link::Link),)*
            Custom(Box<dyn LinkAlgorithm + Send>),
        }

        /// Any scheme's part in an SDN controller.
        #[allow(missing_docs, reason = "each variant is the scheme of its name")]
        #[allow(clippy::large_enum_variant, reason = "there is one of them")]
        #[derive(Delegate)]
        #[delegate(App)]
        pub enum AnyApp {
            $($App($app::App),)*
            Custom(Box<dyn App + Send>),
        }
    };
}
pub(crate) use registry;
