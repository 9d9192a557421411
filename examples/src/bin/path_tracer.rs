//! A path tracer of spheres under a bright sky: structs with methods and operators on the device, and a random number generator in
//! each thread.

use std::ops::{Add, Mul, Sub};

use anyhow::{Result, ensure};
use clap::Parser as _;
use cuda_examples::{Color, Options, save};
use cuda_prelude::*;
use ndarray::ArrayViewMut2;

/// A point, a direction, or a color.
#[repr(C)]
#[derive(Clone, Copy, DeviceType)]
#[operators(Add, Sub, Mul<f32>)]
struct Vec3 {
    x: f32,
    y: f32,
    z: f32,
}

const BLACK: Vec3 = Vec3 { x: 0.0, y: 0.0, z: 0.0 };

#[device]
impl Add for Vec3 {
    type Output = Vec3;
    fn add(self, b: Vec3) -> Vec3 {
        Vec3 { x: self.x + b.x, y: self.y + b.y, z: self.z + b.z }
    }
}

#[device]
impl Sub for Vec3 {
    type Output = Vec3;
    fn sub(self, b: Vec3) -> Vec3 {
        Vec3 { x: self.x - b.x, y: self.y - b.y, z: self.z - b.z }
    }
}

#[device]
impl Mul<f32> for Vec3 {
    type Output = Vec3;
    fn mul(self, by: f32) -> Vec3 {
        Vec3 { x: self.x * by, y: self.y * by, z: self.z * by }
    }
}

#[device]
impl Vec3 {
    fn dot(self, b: Vec3) -> f32 {
        self.x * b.x + self.y * b.y + self.z * b.z
    }

    fn unit(self) -> Vec3 {
        self * (1.0 / self.dot(self).sqrt())
    }

    /// The color of light after a surface of color `b` reflects it.
    fn tinted(self, b: Vec3) -> Vec3 {
        Vec3 { x: self.x * b.x, y: self.y * b.y, z: self.z * b.z }
    }
}

#[repr(C)]
#[derive(Clone, Copy, DeviceType)]
struct Sphere {
    center: Vec3,
    radius: f32,
    color: Vec3,
    /// 0 scatters light in all directions, 1 is a mirror.
    mirror: f32,
}

#[device]
impl Sphere {
    /// The distance along a ray at which it meets the sphere.
    fn meets(&self, from: Vec3, direction: Vec3) -> Option<f32> {
        let to = self.center - from;
        let middle = to.dot(direction);
        let inside = self.radius * self.radius - (to.dot(to) - middle * middle);
        if inside < 0.0 {
            return None;
        }
        let half = inside.sqrt();
        // The lower bound excludes the surface that the ray leaves.
        if middle - half > 1e-3 {
            Some(middle - half)
        } else if middle + half > 1e-3 {
            Some(middle + half)
        } else {
            None
        }
    }
}

/// A permuted congruential generator.
#[repr(C)]
#[derive(Clone, Copy, DeviceType)]
struct Random(u32);

#[device]
impl Random {
    /// A number from 0 to 1, without 1.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = ((self.0 >> ((self.0 >> 28) + 4)) ^ self.0).wrapping_mul(277_803_737);
        ((word >> 22) ^ word) as f32 * (1.0 / 4_294_967_808.0)
    }

    /// A uniformly distributed direction.
    fn direction(&mut self) -> Vec3 {
        let (z, angle) = (2.0 * self.next() - 1.0, 2.0 * std::f32::consts::PI * self.next());
        let radius = (1.0 - z * z).sqrt();
        let (sin, cos) = angle.sin_cos();
        Vec3 { x: radius * cos, y: radius * sin, z }
    }
}

/// The sky's light, from a warm horizon to a blue zenith.
#[device]
fn sky(direction: Vec3) -> Vec3 {
    let up = 0.5 * (direction.unit().y + 1.0);
    Vec3 { x: 1.0, y: 0.85, z: 0.7 } * (1.0 - up) + Vec3 { x: 0.35, y: 0.55, z: 1.0 } * up
}

/// The light along one ray, which is reflected by up to eight surfaces.
#[device]
fn light(scene: &[Sphere], from: Vec3, direction: Vec3, random: &mut Random) -> Vec3 {
    let (mut from, mut direction, mut left) = (from, direction, Vec3 { x: 1.0, y: 1.0, z: 1.0 });
    for _ in 0..8 {
        let (mut nearest, mut hit) = (f32::INFINITY, 0);
        for (k, sphere) in scene.iter().enumerate() {
            if let Some(distance) = sphere.meets(from, direction)
                && distance < nearest
            {
                (nearest, hit) = (distance, k);
            }
        }
        if nearest == f32::INFINITY {
            return left.tinted(sky(direction));
        }
        let sphere = scene[hit];
        from = from + direction * nearest;
        let normal = (from - sphere.center) * (1.0 / sphere.radius);
        direction = if random.next() < sphere.mirror {
            direction - normal * (2.0 * direction.dot(normal))
        } else {
            (normal + random.direction() * 0.999).unit()
        };
        left = left.tinted(sphere.color);
    }
    BLACK
}

/// The mean of `paths` paths through each pixel.
#[kernel]
fn trace(scene: &[Sphere], paths: u32, mut picture: ArrayViewMut2<'_, Color>) {
    let (column, row) = grid::<2>();
    let (rows, columns) = picture.dim();
    if row >= rows || column >= columns {
        return;
    }
    let mut random = Random((row * columns + column) as u32);
    let mut sum = BLACK;
    for _ in 0..paths {
        let x = (column as f32 + random.next() - 0.5 * columns as f32) / rows as f32;
        let y = (0.5 * rows as f32 - row as f32 - random.next()) / rows as f32;
        let direction = Vec3 { x, y, z: -1.0 }.unit();
        sum = sum + light(scene, Vec3 { x: 0.0, y: 0.4, z: 3.2 }, direction, &mut random);
    }
    let mean = sum * (1.0 / paths as f32);
    let level = |value: f32| (255.0 * value.min(1.0).sqrt()) as u8;
    picture[[row, column]] = [level(mean.x), level(mean.y), level(mean.z)];
}

/// A large sphere for the ground, three on it, and a ring of small ones.
fn scene() -> Vec<Sphere> {
    let sphere = |center: [f32; 3], radius, [x, y, z]: [f32; 3], mirror| {
        let center = Vec3 { x: center[0], y: center[1], z: center[2] };
        Sphere { center, radius, color: Vec3 { x, y, z }, mirror }
    };
    let mut scene = vec![
        sphere([0.0, -1000.0, 0.0], 1000.0, [0.5, 0.5, 0.45], 0.0),
        sphere([0.0, 0.6, 0.0], 0.6, [0.95, 0.9, 0.85], 0.95),
        sphere([-1.3, 0.5, -0.3], 0.5, [0.8, 0.3, 0.25], 0.05),
        sphere([1.3, 0.5, -0.3], 0.5, [0.25, 0.45, 0.8], 0.3),
    ];
    scene.extend((0..12).map(|k| {
        let angle = std::f32::consts::TAU * k as f32 / 12.0;
        let color = [0.55 + 0.4 * angle.cos(), 0.55 + 0.4 * (angle + 2.1).cos(), 0.55 + 0.4 * (angle + 4.2).cos()];
        sphere([1.15 * angle.cos(), 0.12, 0.35 + 1.0 * angle.sin()], 0.12, color, 0.1)
    }));
    scene
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let (rows, columns, paths) = options.pick((240, 360, 64), (24, 36, 4));
    let scene = scene();
    let mut picture = zeros::<Color, _>((rows, columns))?;
    let blocks = (columns.div_ceil(16), rows.div_ceil(16));
    trace::launch((blocks, (16, 16)), &from_slice(&scene)?, paths, &mut picture)?;
    let picture = picture.copy_to_host()?;

    // The device functions also run on the host: paths from other random numbers have about the same mean.
    let mut random = Random(1);
    let upper = light(&scene, Vec3 { x: 0.0, y: 0.4, z: 3.2 }, Vec3 { x: 0.0, y: 0.45, z: -1.0 }.unit(), &mut random);
    let found = picture[[rows / 20, columns / 2]];
    let expected = [upper.x, upper.y, upper.z].map(|value| 255.0 * value.min(1.0).sqrt());
    for (found, expected) in found.iter().zip(expected) {
        ensure!((f32::from(*found) - expected).abs() < 6.0, "the sky is {found} and not {expected}");
    }
    save(&options.file("path_tracer.png"), picture.view())
}

fn main() -> Result<()> {
    run(&Options::parse())
}
