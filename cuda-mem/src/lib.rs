//! Device arrays with ndarray shapes, transfers and safe ordering between streams
