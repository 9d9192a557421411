//! Programs that follow references: graphs, trees, hash tables.

use anyhow::Result;
use cuda_prelude::*;

use super::{Program, Random, Vector, in_blocks, program};

/// Threads of a block.
const BLOCK: usize = 256;

/// The root of a vertex's tree.
#[device]
fn root(parents: &mut [u32], vertex: u32) -> u32 {
    let mut at = vertex;
    loop {
        let parent = atomic_load(&mut parents[at as usize]);
        if parent == at {
            return at;
        }
        at = parent;
    }
}

/// Unites the trees of each edge's ends: the larger root becomes a child of the smaller one.
#[kernel]
fn unite(edges: &[u32], parents: &mut [u32]) {
    let i = 2 * grid::<1>();
    if i + 1 < edges.len() {
        let (mut a, mut b) = (root(parents, edges[i]), root(parents, edges[i + 1]));
        while a != b {
            let (low, high) = (a.min(b), a.max(b));
            let found = cas(&mut parents[high as usize], high, low);
            if found == high {
                break;
            }
            a = root(parents, low);
            b = root(parents, found);
        }
    }
}

/// Makes each vertex a child of its root.
#[kernel]
fn flatten(parents: &mut [u32]) {
    let i = grid::<1>();
    if i < parents.len() {
        let top = root(parents, i as u32);
        atomic_store(&mut parents[i], top);
    }
}

fn root_on_host(parents: &[u32], vertex: u32) -> u32 {
    let mut at = vertex;
    while parents[at as usize] != at {
        at = parents[at as usize];
    }
    at
}

pub(super) fn union_find() -> Result<Program> {
    const VERTICES: usize = 1 << 16;
    const EDGES: usize = 1 << 16;
    let mut random = Random(11);
    let edges: Vec<u32> = (0..2 * EDGES).map(|_| random.below(VERTICES) as u32).collect();
    let alone: Vec<u32> = (0..VERTICES as u32).collect();
    let (on_device, initial) = (from_slice(&edges)?, from_slice(&alone)?);
    program(
        alone.clone(),
        move |out| {
            out.assign(&initial)?;
            unite::launch(in_blocks(EDGES, BLOCK), &on_device, &mut *out)?;
            flatten::launch(in_blocks(VERTICES, BLOCK), out)
        },
        move |out| {
            out.copy_from_slice(&alone);
            for edge in edges.chunks(2) {
                let (a, b) = (root_on_host(out, edge[0]), root_on_host(out, edge[1]));
                out[a.max(b) as usize] = a.min(b);
            }
            for i in 0..VERTICES {
                out[i] = root_on_host(out, i as u32);
            }
        },
    )
}

/// Visits the unvisited neighbours of a frontier, which make up the next one.
#[kernel]
fn expand(
    level: u32,
    starts: &[u32],
    neighbours: &[u32],
    frontier: &[u32],
    size: usize,
    levels: &mut [u32],
    next: &mut [u32],
    next_size: &mut [u32],
) {
    let i = grid::<1>();
    if i < size {
        let vertex = frontier[i] as usize;
        for k in starts[vertex] as usize..starts[vertex + 1] as usize {
            let neighbour = neighbours[k];
            if cas(&mut levels[neighbour as usize], u32::MAX, level) == u32::MAX {
                let place = atomic_add(&mut next_size[0], 1);
                next[place as usize] = neighbour;
            }
        }
    }
}

/// A random graph in CSR format.
fn graph(vertices: usize, degree: usize, random: &mut Random) -> (Vec<u32>, Vec<u32>) {
    let (mut starts, mut neighbours) = (vec![0], Vec::new());
    for _ in 0..vertices {
        neighbours.extend((0..1 + random.below(2 * degree)).map(|_| random.below(vertices) as u32));
        starts.push(neighbours.len() as u32);
    }
    (starts, neighbours)
}

pub(super) fn breadth_first_search() -> Result<Program> {
    const VERTICES: usize = 1 << 16;
    let (starts, neighbours) = graph(VERTICES, 8, &mut Random(12));
    let (starts_on_device, neighbours_on_device) = (from_slice(&starts)?, from_slice(&neighbours)?);
    let mut unvisited = vec![u32::MAX; VERTICES];
    unvisited[0] = 0;
    let initial = from_slice(&unvisited)?;
    let (mut frontier, mut next) = (from_slice(&vec![0_u32; VERTICES])?, from_slice(&vec![0_u32; VERTICES])?);
    let (first, mut next_size) = (from_slice(&vec![0_u32; VERTICES])?, from_slice(&[0_u32])?);
    let none = from_slice(&[0_u32])?;
    program(
        vec![0; VERTICES],
        move |out| {
            out.assign(&initial)?;
            frontier.assign(&first)?;
            let (mut size, mut level) = (1, 0);
            while size > 0 {
                level += 1;
                next_size.assign(&none)?;
                let (starts, neighbours) = (&starts_on_device, &neighbours_on_device);
                let shape = in_blocks(size, BLOCK);
                expand::launch(
                    shape,
                    level,
                    starts,
                    neighbours,
                    &frontier,
                    size,
                    &mut *out,
                    &mut next,
                    &mut next_size,
                )?;
                size = next_size.copy_to_host()?[0] as usize;
                std::mem::swap(&mut frontier, &mut next);
            }
            Ok(())
        },
        move |out| {
            out.copy_from_slice(&unvisited);
            let (mut frontier, mut level) = (vec![0_u32], 0);
            while !frontier.is_empty() {
                level += 1;
                let mut next = Vec::new();
                for vertex in frontier {
                    let vertex = vertex as usize;
                    for neighbour in &neighbours[starts[vertex] as usize..starts[vertex + 1] as usize] {
                        if out[*neighbour as usize] == u32::MAX {
                            out[*neighbour as usize] = level;
                            next.push(*neighbour);
                        }
                    }
                }
                frontier = next;
            }
        },
    )
}

/// Spheres of the scene.
const SPHERES: usize = 256;
/// Numbers of a node: the bounds of its spheres in `x` and `y`.
const BOUNDS: usize = 4;

/// The sphere that each vertical ray hits first, by a tree of bounds: node `n` has the children `2 n` and `2 n + 1`, and the leaves are the
/// spheres.
#[kernel]
fn trace(spheres: &[f32], nodes: &[f32], rays: &[f32], hits: &mut [u32]) {
    let i = grid::<1>();
    if i < hits.len() {
        let (x, y) = (rays[2 * i], rays[2 * i + 1]);
        let (mut nearest, mut hit) = (f32::INFINITY, u32::MAX);
        let mut stack = [0; 16];
        let mut depth = 1;
        stack[0] = 1;
        while depth > 0 {
            depth -= 1;
            let node = stack[depth];
            if node >= SPHERES {
                let s = 4 * (node - SPHERES);
                let (dx, dy, r) = (x - spheres[s], y - spheres[s + 1], spheres[s + 3]);
                let below = r * r - dx * dx - dy * dy;
                if below >= 0.0 {
                    let z = spheres[s + 2] - below.sqrt();
                    if z < nearest {
                        nearest = z;
                        hit = (node - SPHERES) as u32;
                    }
                }
            } else {
                let n = BOUNDS * node;
                if x >= nodes[n] && x <= nodes[n + 1] && y >= nodes[n + 2] && y <= nodes[n + 3] {
                    stack[depth] = 2 * node;
                    stack[depth + 1] = 2 * node + 1;
                    depth += 2;
                }
            }
        }
        hits[i] = hit;
    }
}

/// The bounds of the nodes of a tree over these spheres.
fn bounds(spheres: &[f32]) -> Vec<f32> {
    let mut nodes = vec![0.0; 2 * SPHERES * BOUNDS];
    for (i, s) in spheres.chunks(4).enumerate() {
        let at = (SPHERES + i) * BOUNDS;
        nodes[at..at + BOUNDS].copy_from_slice(&[s[0] - s[3], s[0] + s[3], s[1] - s[3], s[1] + s[3]]);
    }
    for node in (1..SPHERES).rev() {
        for k in 0..BOUNDS {
            let (a, b) = (nodes[2 * node * BOUNDS + k], nodes[(2 * node + 1) * BOUNDS + k]);
            nodes[node * BOUNDS + k] = if k % 2 == 0 { a.min(b) } else { a.max(b) };
        }
    }
    nodes
}

fn first_hit(spheres: &[f32], nodes: &[f32], x: f32, y: f32) -> u32 {
    let (mut nearest, mut hit) = (f32::INFINITY, u32::MAX);
    let (mut stack, mut depth) = ([0; 16], 1);
    stack[0] = 1;
    while depth > 0 {
        depth -= 1;
        let node = stack[depth];
        if node >= SPHERES {
            let sphere = &spheres[4 * (node - SPHERES)..][..4];
            let (dx, dy, r) = (x - sphere[0], y - sphere[1], sphere[3]);
            let below = r * r - dx * dx - dy * dy;
            if below >= 0.0 && sphere[2] - below.sqrt() < nearest {
                nearest = sphere[2] - below.sqrt();
                hit = (node - SPHERES) as u32;
            }
        } else {
            let bounds = &nodes[BOUNDS * node..][..BOUNDS];
            if x >= bounds[0] && x <= bounds[1] && y >= bounds[2] && y <= bounds[3] {
                stack[depth] = 2 * node;
                stack[depth + 1] = 2 * node + 1;
                depth += 2;
            }
        }
    }
    hit
}

pub(super) fn bvh_traversal() -> Result<Program> {
    const SIDE: usize = 256;
    let mut random = Random(13);
    // The spheres lie in the order of a 16 x 16 grid in Morton order, so that siblings are close to each other.
    let spheres: Vec<f32> = (0..SPHERES)
        .flat_map(|i| {
            let (x, y) =
                (0..4).fold((0, 0), |(x, y), b| (x | (i >> (2 * b) & 1) << b, y | (i >> (2 * b + 1) & 1) << b));
            let mut near = |at: usize| at as f32 + random.number();
            [near(x), near(y), near(0), 0.5 + 0.5 * near(0)]
        })
        .collect();
    let nodes = bounds(&spheres);
    let at = |i: usize| i as f32 * 16.0 / SIDE as f32;
    let rays: Vec<f32> = (0..SIDE * SIDE).flat_map(|i| [at(i % SIDE), at(i / SIDE)]).collect();
    let (a, b, c) = (from_slice(&spheres)?, from_slice(&nodes)?, from_slice(&rays)?);
    program(
        vec![0; SIDE * SIDE],
        move |out| trace::launch(in_blocks(SIDE * SIDE, BLOCK), &a, &b, &c, out),
        move |out| {
            for (hit, ray) in out.iter_mut().zip(rays.chunks(2)) {
                *hit = first_hit(&spheres, &nodes, ray[0], ray[1]);
            }
        },
    )
}

/// A slot of the hash table without a key.
const EMPTY: u32 = u32::MAX;

/// Counts keys in a hash table with linear probing, whose number of slots is a power of two.
#[kernel]
fn count_keys(keys: &[u32], slots: &mut [u32], counts: &mut [u32]) {
    let i = grid::<1>();
    if i < keys.len() {
        let (key, mask) = (keys[i], slots.len() - 1);
        let mut at = (key.wrapping_mul(0x9e37_79b1) >> 12) as usize & mask;
        loop {
            let found = cas(&mut slots[at], EMPTY, key);
            if found == EMPTY || found == key {
                atomic_add(&mut counts[at], 1);
                break;
            }
            at = (at + 1) & mask;
        }
    }
}

/// The count of each key.
#[kernel]
fn look_up(keys: &[u32], slots: &[u32], counts: &[u32], found: &mut [u32]) {
    let i = grid::<1>();
    if i < keys.len() {
        let (key, mask) = (keys[i], slots.len() - 1);
        let mut at = (key.wrapping_mul(0x9e37_79b1) >> 12) as usize & mask;
        while slots[at] != key {
            at = (at + 1) & mask;
        }
        found[i] = counts[at];
    }
}

pub(super) fn hash_table() -> Result<Program> {
    const KEYS: usize = 1 << 16;
    const SLOTS: usize = 1 << 16;
    let mut random = Random(14);
    let keys: Vec<u32> = (0..KEYS).map(|_| random.below(KEYS / 2) as u32 * 7).collect();
    let on_device = from_slice(&keys)?;
    let (empty, zero) = (from_slice(&vec![EMPTY; SLOTS])?, from_slice(&vec![0_u32; SLOTS])?);
    let (mut slots, mut counts): (Vector<u32>, Vector<u32>) = (device_array_like(&empty)?, device_array_like(&zero)?);
    let (mut host_slots, mut host_counts) = (vec![EMPTY; SLOTS], vec![0_u32; SLOTS]);
    let place = |slots: &[u32], key: u32| {
        let mut at = (key.wrapping_mul(0x9e37_79b1) >> 12) as usize & (SLOTS - 1);
        while slots[at] != EMPTY && slots[at] != key {
            at = (at + 1) & (SLOTS - 1);
        }
        at
    };
    program(
        vec![0; KEYS],
        move |out| {
            slots.assign(&empty)?;
            counts.assign(&zero)?;
            count_keys::launch(in_blocks(KEYS, BLOCK), &on_device, &mut slots, &mut counts)?;
            look_up::launch(in_blocks(KEYS, BLOCK), &on_device, &slots, &counts, out)
        },
        move |out| {
            host_slots.fill(EMPTY);
            host_counts.fill(0);
            for key in &keys {
                let at = place(&host_slots, *key);
                host_slots[at] = *key;
                host_counts[at] += 1;
            }
            for (found, key) in out.iter_mut().zip(&keys) {
                *found = host_counts[place(&host_slots, *key)];
            }
        },
    )
}
