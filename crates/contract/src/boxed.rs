//! Boxed parts implement the traits of parts, so that an enum of parts has a variant for external ones.

#![allow(clippy::unused_unit, reason = "the macro writes them")]

use ambassador::delegate_to_remote_methods;
use units::{Bytes, Duration, Rate, Time};

use crate::*;

#[delegate_to_remote_methods]
#[delegate(CongestionControl, target_ref = "deref", target_mut = "deref_mut")]
#[delegate(SenderAlgorithm, target_ref = "deref", target_mut = "deref_mut")]
#[delegate(ReceiverAlgorithm, target_ref = "deref", target_mut = "deref_mut")]
#[delegate(RouterAlgorithm, target_ref = "deref", target_mut = "deref_mut")]
#[delegate(Strategy, target_ref = "deref", target_mut = "deref_mut")]
#[delegate(LinkAlgorithm, target_ref = "deref", target_mut = "deref_mut")]
#[delegate(App, target_ref = "deref", target_mut = "deref_mut")]
impl<T: ?Sized> Box<T> {}
