//! Pipelines: what makes way, what waits, what is near.

mod sample;

use hetero_core::{Decision, Fleet, Request};
use hetero_plan::Watch;
use hetero_plan::dag::{DagPlan, DagSettings, Distance, Nearness, Pipeline, PipelineStep, place_dag};
use sample::{class, fleet, node};
use serde_json::json;

const NEAR: DagSettings = DagSettings { near_points: 100.0 };

fn request(choices: &[(u32, u16, u64, Option<&'static str>)]) -> Request {
    let choices: Vec<_> = choices.iter().map(class).collect();
    let text = json!({"requirement": "test", "choices": choices}).to_string();
    Request::from_json(text.as_bytes()).expect("valid")
}

fn planned(fleet: &Fleet, requests: Vec<Request>, steps: Vec<PipelineStep>) -> DagPlan {
    let pipeline = Pipeline { requests, steps };
    place_dag(fleet, &pipeline, NEAR, &Watch::default()).expect("a plan")
}

fn nodes(plan: &DagPlan) -> Vec<String> {
    let node = |decision: &Decision| match decision {
        Decision::Placement(placement) => placement.nodes[0].clone(),
        Decision::NoFit(_) => "none".to_owned(),
    };
    plan.steps.iter().map(|step| node(&step.decision)).collect()
}

#[test]
fn who_has_another_choice_makes_way() {
    let fleet = fleet(&[node("a", 8, "X", 4), node("b", 8, "Y", 4)]);
    let requests =
        vec![request(&[(2, 1000, 0, Some("X")), (2, 1000, 0, Some("Y"))]), request(&[(4, 1000, 0, Some("X"))])];
    let plan = planned(&fleet, requests, vec![PipelineStep::default(); 2]);
    assert_eq!(nodes(&plan), ["b", "a"]);
    assert_eq!((plan.peak.device_milli, plan.peak.steps.len()), (6000, 2));
    assert_eq!(plan.makespan_s, None);
}

#[test]
fn who_has_none_waits_and_is_near_what_it_takes() {
    let fleet = fleet(&[node("a", 8, "X", 1), node("b", 8, "X", 3)]);
    let timed = |after: Vec<usize>, seconds| PipelineStep { near: after.clone(), after, duration_s: Some(seconds) };
    let (one, two) = (request(&[(1, 1000, 0, None)]), request(&[(2, 1000, 0, None)]));
    let steps = vec![timed(vec![], 5), timed(vec![], 7), timed(vec![0], 1)];
    let plan = planned(&fleet, vec![two.clone(), two, one], steps);
    assert_eq!(nodes(&plan), ["b", "b", "b"]);
    let waits: Vec<_> = plan.steps.iter().map(|step| (step.start_s, step.waits_for.clone())).collect();
    assert_eq!(waits, [(Some(0), vec![]), (Some(5), vec![0]), (Some(5), vec![])]);
    assert_eq!(plan.steps[2].near, [Nearness { step: 0, distance: Distance::Node }]);
    assert_eq!((plan.asked_peak.device_milli, plan.peak.device_milli, plan.makespan_s), (4000, 3000, Some(12)));
}

#[test]
fn what_cannot_be_is_refused() {
    let fleet = fleet(&[node("a", 8, "X", 1)]);
    let circle = |one: usize, other: usize| {
        let steps = [vec![one], vec![other]].map(|after| PipelineStep { after, ..PipelineStep::default() });
        let pipeline = Pipeline { requests: vec![request(&[(1, 1000, 0, None)]); 2], steps: steps.to_vec() };
        place_dag(&fleet, &pipeline, NEAR, &Watch::default()).map_err(|e| e.to_string())
    };
    assert!(circle(1, 0).is_err_and(|told| told.contains("in a circle")));
    assert!(circle(0, 0).is_err_and(|told| told.contains("in a circle")));
    assert!(circle(2, 0).is_err_and(|told| told.contains("what is not there")));
    assert!(DagSettings::from_json(br#"{"near_points": -1}"#).is_err());
}

#[test]
fn a_plan_that_is_stopped_is_none() {
    let fleet = fleet(&[node("a", 8, "X", 1)]);
    let watch = Watch::default();
    watch.stop();
    let pipeline = Pipeline { requests: vec![request(&[(1, 1000, 0, None)])], steps: vec![PipelineStep::default()] };
    assert!(place_dag(&fleet, &pipeline, NEAR, &watch).is_err());
}
