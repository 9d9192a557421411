//! Safe Device, Context, Stream, Event, Module and Function over the CUDA driver
