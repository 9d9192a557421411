//! The supported features: types, control flow, assertions, printing.

use cuda_prelude::*;

#[derive(Clone, Copy, PartialEq, DeviceType)]
#[repr(i32)]
enum Shape {
    Circle = 1,
    Square = 4,
}

/// A record, like NumPy's structured types in Numba.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Particle {
    place: [f32; 3],
    mass: f32,
}

#[kernel]
fn areas(shape: Shape, sizes: &[f64], out: &mut [f64]) {
    let i = grid::<1>();
    if i < out.len() {
        out[i] = match shape {
            Shape::Circle => std::f64::consts::PI * sizes[i] * sizes[i],
            Shape::Square => sizes[i] * sizes[i],
        };
    }
}

#[kernel]
fn fall(particles: &mut [Particle], (gravity, seconds): (f32, f32)) {
    let i = grid::<1>();
    if i < particles.len() {
        particles[i].place[2] -= 0.5 * gravity * seconds * seconds;
        assert!(particles[i].place[2] >= 0.0, "below the floor");
    }
}

#[kernel]
fn say(x: &[i32]) {
    let i = grid::<1>();
    if i < x.len() && x[i] < 0 {
        printf!("x[{i}] = {} is negative\n", x[i]);
    }
}

#[test]
fn an_enum_as_argument() -> Result<()> {
    let mut out = vec![0.0; 2];
    areas::launch((1, 32), Shape::Square, &vec![2.0, 3.0], &mut out)?;
    assert_eq!(out, [4.0, 9.0]);
    areas::launch((1, 32), Shape::Circle, &vec![2.0, 3.0], &mut out)?;
    assert_eq!(out, [std::f64::consts::PI * 4.0, std::f64::consts::PI * 9.0]);
    Ok(())
}

#[test]
fn records_and_tuples() -> Result<()> {
    let particle = |height| Particle { place: [1.0, 2.0, height], mass: 3.0 };
    let mut particles = vec![particle(10.0), particle(20.0)];
    fall::launch((1, 2), &mut particles, (8.0, 1.0))?;
    assert_eq!(particles, [particle(6.0), particle(16.0)]);
    Ok(())
}

#[test]
fn a_failed_assertion_is_an_error_of_the_host() {
    crate::support::in_own_process("manual::language::a_failed_assertion_is_an_error_of_the_host", &[], || {
        let mut particles = to_device(&ndarray::Array1::from_elem(4, Particle { place: [0.0; 3], mass: 1.0 })).unwrap();
        fall::launch((2, 2), &mut particles, (2.0, 1.0)).unwrap();
        let error = synchronize().unwrap_err().to_string();
        assert!(error.contains("below the floor") && error.contains("language.rs"), "{error}");
        // The context stays usable.
        assert_eq!(particles.copy_to_host().unwrap()[0].place, [0.0, 0.0, -1.0]);
    });
}

#[test]
fn printing() {
    let text = crate::support::in_own_process("manual::language::printing", &[], || {
        say::launch((1, 4), &to_device(&ndarray::array![1, -2, 3, -4]).unwrap()).unwrap();
        synchronize().unwrap();
    });
    if !text.is_empty() {
        assert!(text.contains("x[1] = -2 is negative\n") && text.contains("x[3] = -4 is negative\n"), "{text}");
        assert!(!text.contains("x[0]"), "{text}");
    }
}
