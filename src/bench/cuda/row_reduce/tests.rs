//! Tests on a GPU; without one they say that they compare nothing.

#![allow(clippy::print_stderr)]

use super::*;
use crate::bench::partition::source::PARTITION_ROWS;
use crate::bench::partition::{cases, fixtures, oracle};
use crate::package::partition::{Operation, Storage};

fn device() -> Option<Device> {
    Device::open(0).inspect_err(|error| eprintln!("skipped: {error}")).ok()
}

fn case(operation: Operation, rows: u64, columns: u64, storage: Storage, block: u64) -> CaseSpec {
    CaseSpec::new(operation, rows, columns, storage, block)
}

fn task<'t>(case: &'t CaseSpec, input: &'t [u8], order: Order, partition: Option<Entry>) -> Task<'t> {
    let original = Entry::by_rule(case, case.geometry.block);
    Task { case, input, original, partition, order, operations: 3 }
}

fn prepared<'d>(device: &'d Device, task: &Task<'_>) -> Ready<'d> {
    let source = Source::new(task.case, true, task.order, task.original, task.partition);
    Ready::new(device, task, source, GUARD_ELEMENTS).unwrap()
}

/// Runs once on its own and once in a graph; both are right, and nothing else has changed.
fn check(ready: &mut Ready<'_>, fixture: &fixtures::Fixture, what: &str) {
    for graph in [false, true] {
        ready.poison().unwrap();
        if graph {
            ready.build_graph().unwrap();
            ready.replay(2).unwrap();
        } else {
            ready.run_once().unwrap();
        }
        let found = ready.read_back().unwrap();
        let verdict = oracle::check(ready.case.storage, &found.output, &fixture.expected, &fixture.bound);
        assert!(verdict.holds(), "{what} {:?}: {verdict:?}", ready.chosen().1);
        assert!(found.guards_unchanged && found.inputs_unchanged, "{what}");
    }
}

fn odd_cases() -> Vec<CaseSpec> {
    let mut all = Vec::new();
    for operation in [Operation::Sum, Operation::Max] {
        for storage in [Storage::Fp16, Storage::Bf16, Storage::Fp32] {
            for (rows, columns, block) in [
                (1, 1, 4),
                (3, 7, 8),
                (5, 8, 1),
                (33, 31, 4),
                (9, 100, 3),
                (1000, 5, 64),
                (2, 40_001, 4),
                (70, 4104, 8),
            ] {
                all.push(case(operation, rows, columns, storage, block));
            }
        }
    }
    all
}

#[test]
fn every_entry_is_right_on_every_shape() {
    let Some(device) = device() else { return };
    let mut compared = 0;
    for case in odd_cases().iter().chain(&cases::published()).chain(&cases::held_out()) {
        let fixture = fixtures::generate(case);
        let partitions = PARTITION_ROWS.map(|rows| Some(Entry::by_rule(case, rows)));
        for partition in std::iter::once(None).chain(partitions) {
            let task = task(case, &fixture.input, Order::Stream, partition);
            let mut ready = prepared(&device, &task);
            assert_eq!(ready.selection.choice == Choice::Partition, partition.is_some());
            check(&mut ready, &fixture, &format!("{} rows {partition:?}", case.id));
            compared += 1;
        }
    }
    eprintln!("{compared} entries compared");
}

#[test]
fn every_number_of_threads_gives_right_results() {
    let Some(device) = device() else { return };
    for (rows, columns, block) in [(17, 1024, 4), (3, 8191, 4), (37, 257, 8)] {
        for operation in [Operation::Sum, Operation::Max] {
            for storage in [Storage::Bf16, Storage::Fp32] {
                let case = case(operation, rows, columns, storage, block);
                let fixture = fixtures::generate(&case);
                for entry in Entry::candidates(&case, block, Order::Stream) {
                    let task = Task { original: entry, ..task(&case, &fixture.input, Order::Stream, None) };
                    check(&mut prepared(&device, &task), &fixture, &case.id);
                }
            }
        }
    }
}

#[test]
fn views_at_any_element_are_right() {
    let Some(device) = device() else { return };
    for case in odd_cases().iter().filter(|case| case.geometry.columns < 5000) {
        let fixture = fixtures::generate(case);
        for shift in [1, 3, 7] {
            let task = task(case, &fixture.input, Order::Stream, Some(Entry::by_rule(case, 1)));
            let source = Source::new(case, false, Order::Stream, task.original, task.partition);
            let mut ready = Ready::new(&device, &task, source, GUARD_ELEMENTS + shift).unwrap();
            check(&mut ready, &fixture, &format!("{} shifted by {shift}", case.id));
        }
    }
}

#[test]
fn nan_wins_over_everything() {
    let Some(device) = device() else { return };
    for case in odd_cases().iter().filter(|case| case.operation == Operation::Max) {
        let fixture = fixtures::generate_with_nan(case);
        for partition in [None, Some(Entry::by_rule(case, 2))] {
            let task = task(case, &fixture.input, Order::Stream, partition);
            check(&mut prepared(&device, &task), &fixture, &format!("{} with NaN", case.id));
        }
    }
}

#[test]
fn the_captured_graph_launches_what_the_selector_chose() {
    let Some(device) = device() else { return };
    let case = case(Operation::Sum, 19, 512, Storage::Fp16, 4);
    let fixture = fixtures::generate(&case);
    let task = task(&case, &fixture.input, Order::Stream, Some(Entry::by_rule(&case, 1)));
    let mut ready = prepared(&device, &task);
    let partitioned = Observed { nodes: 3, entry: PARTITION.to_owned(), grid: [19, 1, 1] };
    let original = Observed { nodes: 3, entry: ORIGINAL.to_owned(), grid: [5, 1, 1] };
    assert_eq!(ready.build_graph().unwrap(), partitioned);
    // The output becomes a view of the input's own allocation, then goes back.
    let apart = ready.binding;
    ready.binding.output.address = ready.binding.input.address + 512;
    ready.selection = select(&case, 1, ready.binding);
    assert!(!ready.selection.disjoint);
    assert_eq!(ready.build_graph().unwrap(), original);
    ready.binding = apart;
    ready.selection = select(&case, 1, ready.binding);
    assert_eq!(ready.build_graph().unwrap(), partitioned);
    check(&mut ready, &fixture, "after falling back");
}

#[test]
fn updates_of_a_graph_switch_the_entry_both_ways() {
    let Some(device) = device() else { return };
    let case = case(Operation::Max, 19, 512, Storage::Fp16, 4);
    let fixture = fixtures::generate(&case);
    let task = task(&case, &fixture.input, Order::Stream, Some(Entry::by_rule(&case, 1)));
    let mut ready = prepared(&device, &task);
    ready.build_graph().unwrap();
    for choice in [Choice::Original, Choice::Partition, Choice::Original] {
        ready.selection.choice = choice;
        ready.selection.grid = if choice == Choice::Original { 5 } else { 19 };
        let graph = ready.graph.take().unwrap();
        let (function, entry) = ready.chosen();
        for node in kernel_nodes(&graph).unwrap() {
            // SAFETY: both entries take the same two addresses, and this grid and block are the entry's own.
            unsafe { node.replace(&graph, function, ready.selection.grid as u32, entry.threads(ready.order)) }.unwrap();
        }
        let name = if choice == Choice::Original { ORIGINAL } else { PARTITION };
        let expected = Observed { nodes: 3, entry: name.to_owned(), grid: [ready.selection.grid, 1, 1] };
        assert_eq!(ready.observe(&graph).unwrap(), expected);
        ready.graph = Some(graph);
        ready.poison().unwrap();
        ready.replay(1).unwrap();
        let found = ready.read_back().unwrap();
        assert!(oracle::check(case.storage, &found.output, &fixture.expected, &fixture.bound).holds());
    }
}

#[test]
fn overlapping_operations_are_right_and_a_race_is_seen() {
    let Some(device) = device().filter(|device| device.capability >= OVERLAP_CAPABILITY) else { return };
    for case in cases::published().iter().chain(odd_cases().iter().step_by(5)) {
        let fixture = fixtures::generate(case);
        for partition in [None, Some(Entry::by_rule(case, 1)), Some(Entry::by_rule(case, 2))] {
            let task = task(case, &fixture.input, Order::Overlap, partition);
            let mut ready = prepared(&device, &task);
            check(&mut ready, &fixture, &case.id);
            let output = ready.read_back().unwrap().output;
            assert!(ready.stores_in_order(&output).unwrap(), "{}", case.id);
            // The same without the wait before the store.
            let mut source = Source::new(case, true, Order::Overlap, task.original, partition);
            source.text = source.text.replace(", true, true, ", ", true, false, ").replace(", true>", ", true, false>");
            let racing = Ready::new(&device, &task, source, GUARD_ELEMENTS).unwrap();
            assert!(!racing.stores_in_order(&output).unwrap(), "{}: the race was not seen", case.id);
        }
    }
}
