//! What several machines share.
