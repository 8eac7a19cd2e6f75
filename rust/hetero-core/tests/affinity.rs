//! What always holds of an affinity, on random profiles and requests.

#![allow(missing_docs)]

mod sample;

use hetero_core::affinity::{Affinity, of_choice, of_request};
use hetero_core::document::DeviceGroup;
use hetero_core::filter::kind_misfit;
use hetero_core::kind::Kind;
use hetero_core::profile::Profiles;
use hetero_core::{Policy, Request};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Figures of a profile; `None` is unknown.
#[derive(Clone, Debug)]
struct Figures {
    bf16: Option<f64>,
    int8: Option<f64>,
    memory_mib: Option<u64>,
    bandwidth_mbps: Option<u64>,
    interconnect_mbps: Option<u64>,
    is_opaque: bool,
}

fn kind(figures: &Figures) -> Kind {
    let known = [("bf16", figures.bf16), ("int8", figures.int8)].into_iter().filter(|(_, rate)| rate.is_some());
    let profile = json!({
        "sku": "X", "vendor": "acme", "class": "gpu", "model": "X", "memory_mib": figures.memory_mib,
        "bandwidth_mbps": figures.bandwidth_mbps, "rates": known.clone().collect::<Value>(),
        "precisions": known.map(|(word, _)| (word, "native")).collect::<Value>(), "efficiency": {},
        "default_efficiency": 0.75, "interconnect": "nvlink", "interconnect_topology": "nvswitch",
        "interconnect_mbps": figures.interconnect_mbps, "pair_mbps": null, "tdp_mw": null, "max_per_node": 8,
        "scaleup_domain": 8, "is_opaque": figures.is_opaque
    });
    let profiles =
        Profiles::from_json(json!({"digest": "", "resource_keys": {}, "entries": [profile]}).to_string().as_bytes())
            .expect("valid");
    let group = DeviceGroup { sku: "X".to_owned(), count: Some(1), ..DeviceGroup::default() };
    Kind::of(&group, "", &profiles).expect("the profile is there")
}

fn any_figures() -> impl Strategy<Value = Figures> {
    let rate = || prop::option::of(prop_oneof![Just(0.0), 0.001..6000.0, Just(1e300)]);
    let amount = |most: u64| prop::option::of(prop_oneof![1..most, Just(u64::MAX)]);
    let rest = (prop::option::of(1u64..300_000), amount(10_000_000), amount(2_000_000), any::<bool>());
    (rate(), rate(), rest).prop_map(|(bf16, int8, (memory_mib, bandwidth_mbps, interconnect_mbps, is_opaque))| {
        Figures { bf16, int8, memory_mib, bandwidth_mbps, interconnect_mbps, is_opaque }
    })
}

fn any_asked() -> impl Strategy<Value = Request> {
    let one = (1u32..=8, prop::option::of(1u64..400_000), prop::sample::select(vec!["", "bf16", "int8", "fp8"]));
    let one = one.prop_map(|(count, floor, precision)| {
        let mut choice = sample::choice(&[], count, 1000, false);
        choice["memory_floor_mib"] = json!(floor);
        if !precision.is_empty() {
            choice["precisions"] = json!([{"word": precision, "path": "native"}]);
        }
        choice
    });
    prop::collection::vec(one, 1..=3).prop_map(|choices| sample::request(&choices))
}

fn any_policy() -> impl Strategy<Value = Policy> {
    prop::sample::select(Policy::ALL.to_vec())
}

fn of(figures: &Figures, request: &Request, policy: Policy) -> Affinity {
    of_request(&kind(figures), request, policy)
}

proptest! {
    #[test]
    fn it_is_zero_exactly_when_no_choice_can_be_served(
        figures in any_figures(), request in any_asked(), policy in any_policy()
    ) {
        let affinity = of(&figures, &request, policy);
        let kind = kind(&figures);
        let first = request.choices.iter().position(|choice| kind_misfit(&kind, choice).is_none());
        prop_assert_eq!(affinity.choice_index, first);
        prop_assert_eq!(affinity.code.is_some(), first.is_none());
        match first {
            None => prop_assert_eq!(affinity.value.to_bits(), 0.0f64.to_bits()),
            Some(_) => prop_assert!((0.1..=100.0).contains(&affinity.value), "{}", affinity.value),
        }
    }

    #[test]
    fn it_is_what_its_terms_add_up_to(figures in any_figures(), request in any_asked(), policy in any_policy()) {
        let affinity = of(&figures, &request, policy);
        if affinity.code.is_some() {
            return Ok(()); // told by the property above; as an assumption it would end long runs
        }
        prop_assert!(affinity.terms.iter().all(|term| (0.0..=1.0).contains(&term.value)));
        let points: f64 = affinity.terms.iter().map(|term| term.points).sum();
        let weights: f64 = affinity.terms.iter().map(|term| term.weight).sum();
        prop_assert!((points.clamp(0.1, 100.0) - affinity.value).abs() < 1e-3);
        prop_assert!((weights - 100.0).abs() < 1e-3);
    }

    #[test]
    fn more_of_anything_is_never_worth_less(
        (one, two) in (any_figures(), any_figures()), request in any_asked(), policy in any_policy()
    ) {
        let more = Figures {
            bf16: one.bf16.map(|rate| rate.max(two.bf16.unwrap_or(0.0))),
            int8: one.int8.map(|rate| rate.max(two.int8.unwrap_or(0.0))),
            bandwidth_mbps: one.bandwidth_mbps.max(two.bandwidth_mbps),
            interconnect_mbps: one.interconnect_mbps.max(two.interconnect_mbps),
            ..one.clone()
        };
        prop_assert!(of(&more, &request, policy).value >= of(&one, &request, policy).value);
    }

    #[test]
    fn an_opaque_device_is_not_ranked_by_its_rates(
        (one, two) in (any_figures(), any_figures()), count in 1u32..=8, policy in any_policy()
    ) {
        let request = sample::request(&[sample::choice(&[], count, 1000, false)]);
        let slow = Figures { is_opaque: true, ..one };
        let fast = Figures { bf16: two.bf16, int8: two.int8, ..slow.clone() };
        prop_assert_eq!(of(&slow, &request, policy), of(&fast, &request, policy));
    }

    #[test]
    fn the_same_question_has_the_same_bytes(figures in any_figures(), request in any_asked(), policy in any_policy()) {
        let bytes = || serde_json::to_string(&of(&figures, &request, policy)).expect("finite numbers");
        prop_assert_eq!(bytes(), bytes());
    }

    #[test]
    fn the_value_of_a_request_is_that_of_the_choice_it_names(
        figures in any_figures(), request in any_asked(), policy in any_policy()
    ) {
        let affinity = of(&figures, &request, policy);
        if let Some(index) = affinity.choice_index {
            prop_assert_eq!(&of_choice(&kind(&figures), index, &request.choices[index], policy), &affinity);
        }
    }
}

#[test]
fn broken_input_is_refused() {
    let catalog = |entries: Value| json!({"digest": "", "resource_keys": {}, "entries": entries}).to_string();
    let (short, empty) = (catalog(json!([{"sku": "X"}])), catalog(json!([])));
    let request = serde_json::to_vec(&sample::request(&[sample::choice(&[], 1, 1000, false)])).expect("plain");
    let refused = |catalog: &str, request: &[u8], policy: &str| {
        hetero_core::affinity::from_json(catalog.as_bytes(), request, policy).expect_err("broken").to_string()
    };
    assert!(refused(&short, &request, "aware").contains("missing field"));
    assert!(refused(&empty, &request, "aware").contains("there is no profile in it"));
    assert!(refused(&short, b"{}", "aware").contains("missing field"));
    assert!(refused(&short, &request, "fast").contains("there are \"aware\" and \"classic\""));
}
