//! Files and live streams over sessions.
