//! The profile, ids, provenance, and the coefficients of the fits.

use recount::package::json::Json;

use crate::common::json::{bump, copy, rehash, scale, set};
use crate::common::package::Package;

forgeries! {
    a_coefficient_of_the_full_fit_is_what_a_refit_gives:
        "model.json", "/full_training_model/coefficients/0", |root, at| scale(root, at, 1.0 + 1e-9) => "coefficient";
    a_coefficient_of_a_fold_is_what_a_refit_gives:
        "model.json", "/outer_leave_geometry_out/folds/1/model/coefficients/2",
        |root, at| scale(root, at, 1.0 - 1e-9) => "coefficient";
    a_coefficient_of_the_profile_is_what_a_refit_gives:
        "model.json", "/profile/coefficients/1", |root, at| scale(root, at, 1.0 + 1e-9) => "coefficient";
    the_profiles_coefficients_are_the_full_fits_to_the_last_bit:
        "model.json", "/profile/coefficients",
        |root, at| {
            let pointer = format!("{at}/1");
            set(root, &pointer, copy(root, &pointer).as_f64().unwrap().next_up());
        } => "provenance";
    a_coefficient_is_the_exact_optimum:
        "model.json", "/full_training_model/coefficients/2", |root, at| scale(root, at, 1.0 + 1e-9) => "exact-optimum";
    the_active_subset_is_the_exact_winner:
        "model.json", "/full_training_model/active_mask", |root, at| set(root, at, 5_u64) => "exact-subset";
    the_active_subset_is_the_refits:
        "model.json", "/outer_leave_geometry_out/folds/0/model/active_mask",
        |root, at| set(root, at, 5_u64) => "coefficient";
    an_objective_is_what_a_refit_gives:
        "model.json", "/full_training_model/weighted_sse", |root, at| scale(root, at, 1.0 - 1e-6) => "coefficient";
    the_profile_id_is_the_profiles_hash:
        "model.json", "/profile_id", rehash => "profile-id";
    a_changed_profile_has_another_id:
        "model.json", "/profile_id", |root, _| set(root, "/profile/confidence", "high") => "profile-id";
    the_public_profile_id_is_the_models:
        "provenance.json", "/public_profile_id", rehash => "provenance";
    the_original_profile_id_is_the_models:
        "provenance.json", "/original_profile_id", rehash => "provenance";
    the_summarys_hash_is_the_models:
        "provenance.json", "/original_summary/sha256", rehash => "provenance";
    the_summarys_size_is_the_models:
        "provenance.json", "/original_summary/bytes", |root, at| bump(root, at, 1) => "provenance";
    the_scripts_hash_is_the_models:
        "provenance.json", "/original_calibration_script/sha256", rehash => "provenance";
    the_models_script_is_the_one_in_the_package:
        "model.json", "/input_receipts/script/bytes", |root, at| bump(root, at, 1) => "provenance";
    the_snapshot_is_the_validations:
        "proof-receipts.json", "/original_snapshot/sha256", rehash => "provenance";
    the_frozen_files_are_those_that_were_rechecked:
        "proof-receipts.json", "/original_frozen_file_count", |root, at| bump(root, at, 1) => "provenance";
    the_profile_repeats_the_revalidation:
        "model.json", "/profile/summary_provenance/native_revalidation/original_cohort_status",
        |root, at| set(root, at, "passed") => "provenance";
    the_profile_repeats_the_device:
        "model.json", "/profile/device_declared_identity/identity/gpu",
        |root, at| set(root, at, "Another GPU") => "model-text";
    the_formula_is_the_fits:
        "model.json", "/profile/formula", |root, at| set(root, at, "q = a0") => "model-text";
    the_policy_is_the_published_one:
        "model.json", "/profile/fixed_policy/improvement_fraction", |root, at| set(root, at, 0.04) => "model-text";
    the_features_have_their_names:
        "model.json", "/profile/feature_names/1", |root, at| set(root, at, "blocks") => "model-text";
    the_model_is_not_called_deployed:
        "model.json", "/status", |root, at| set(root, at, "deployed") => "model-text";
    a_member_that_no_refit_makes_is_found:
        "model.json", "/full_training_model/extra",
        |root, _| crate::common::json::add(root, "/full_training_model", "extra", 1_u64) => "fold";
    another_device_is_not_the_one_that_was_fitted:
        "device.json", "/compute_capability", |root, at| set(root, at, 90_u64) => "provenance";
    another_processor_count_is_not_the_one_that_was_fitted:
        "device.json", "/sm_count", |root, at| set(root, at, 24_u64) => "provenance";
}

#[test]
fn another_processor_count_changes_every_feature() {
    let outcome = Package::valid().forged("device.json", |root| set(root, "/sm_count", 24_u64));
    outcome.exits(1).at("model-text", "model.json", "/profile/formula");
    outcome.all("observation");
}

#[test]
fn a_profile_whose_id_was_made_again_still_contradicts_the_refit() {
    let package = Package::valid();
    package.edit_json("model.json", |root| {
        for pointer in ["/profile/coefficients/0", "/full_training_model/coefficients/0"] {
            scale(root, pointer, 1.001);
        }
        let id = recount::refit::document::profile_id(&copy(root, "/profile"));
        set(root, "/profile_id", id);
    });
    let id = copy(&package.json("model.json"), "/profile_id");
    let outcome = package.forged("provenance.json", |root| set(root, "/public_profile_id", id));
    outcome.exits(1).at("coefficient", "model.json", "/full_training_model/coefficients/0");
    let codes = outcome.codes();
    outcome.require(!codes.contains(&"profile-id".to_owned()), "the id is the forged profile's");
}

#[test]
fn last_bits_of_coefficients_are_within_the_tolerance_and_without_it_are_not() {
    let package = Package::valid();
    package.edit_json("model.json", |root| {
        for pointer in ["/profile/coefficients/0", "/full_training_model/coefficients/0"] {
            let value = copy(root, pointer).as_f64().unwrap();
            set(root, pointer, value.next_up().next_up());
        }
        let id = recount::refit::document::profile_id(&copy(root, "/profile"));
        set(root, "/profile_id", id);
    });
    let id = copy(&package.json("model.json"), "/profile_id");
    package.forged("provenance.json", |root| set(root, "/public_profile_id", id)).holds();
    let strictest = package.verify(&["--tolerance", "0"]);
    strictest.exits(1).at("coefficient", "model.json", "/full_training_model/coefficients/0");
}

#[test]
fn a_coefficient_that_is_an_integer_is_not_the_float() {
    let outcome = Package::valid().forged("model.json", |root| {
        set(root, "/full_training_model/coefficients/0", Json::Int(1));
    });
    outcome.exits(1).at("coefficient", "model.json", "/full_training_model/coefficients/0");
}
