// SPDX-License-Identifier: Apache-2.0
#include "core/compile/config/run_rules.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compile/config/data_defaults.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/compile/mesh/stage_config.h"
#include "core/nn/loss_def.h"
#include "core/nn/models/model_list.h"
#include "core/optim/groups.h"
#include "core/optim/plateau.h"
#include "core/optim/schedule.h"
#include "core/store/address.h"

#include <algorithm>
#include <initializer_list>

namespace weft::compile {
namespace {

using config::Diagnostics;
using config::Json;
using config::Severity;

/// What the data source says about itself before it is opened.
enum class Delivers { unknown, images, tokens };

/// Names of the metrics that a loss consists of.
std::vector<std::string> parts_of(const nn::LossDef& loss) {
    std::vector<std::string> names;
    for (const nn::MetricDef* metric : nn::kMetrics) {
        if (metric->part_of == loss.name) {
            names.emplace_back(metric->name);
        }
    }
    return names;
}

/// Metrics that go with a loss, as a hint.
std::string hint_for(const nn::LossDef& loss) {
    if (loss.point != nullptr) {
        return "Use nearest_accuracy.";
    }
    if (loss.symbols != nullptr) {
        return "Use symbol_error_rate.";
    }
    if (!loss.of_input) {
        return loss.needs_classes ? "Use accuracy." : "Use mean_absolute_error.";
    }
    const std::vector<std::string> parts = parts_of(loss);
    return parts.empty() ? "Leave it out." : "Use " + join(parts, " or ") + ".";
}

class Rules {
public:
    Rules(const Json& document, Diagnostics& out) : document_(document), out_(out) {}

    void run() {
        version_is_known();
        if (sound({"/model"})) {
            model_rules();
            data_fits_model();
        }
        mesh_is_sound();
        experts_divide();
        batch_divides();
        pipeline_is_sound();
        length_fits();
        loss_scale_fits();
        bits_are_kept();
        if (sound({"/optimizer"})) {
            optim::check_optimizer(at("/optimizer"), "/optimizer", out_);
        }
        schedules_fit();
        loss_fits_model();
        averages_fit();
        loss_is_sound();
        loss_fits_data();
        targets_stay_as_they_are();
        metrics_fit();
        judged_metrics_exist();
        mirror_is_in_a_store();
        something_is_trained();
    }

private:
    const Json& at(const std::string& pointer) const {
        return document_.at(Json::json_pointer(pointer));
    }

    /// True when none of these places (nor what is below or above them) has an error so far.
    bool sound(std::initializer_list<std::string_view> pointers) const {
        return std::none_of(out_.begin(), out_.end(), [&](const config::Diagnostic& diagnostic) {
            return diagnostic.severity == Severity::error &&
                   std::any_of(pointers.begin(), pointers.end(), [&](std::string_view pointer) {
                       return diagnostic.pointer.starts_with(pointer) ||
                              pointer.starts_with(diagnostic.pointer + "/");
                   });
        });
    }

    void error(std::string pointer, std::string message, std::string hint) {
        out_.push_back({std::move(pointer), Severity::error, std::move(message), std::move(hint)});
    }

    void warning(std::string pointer, std::string message, std::string hint) {
        out_.push_back(
            {std::move(pointer), Severity::warning, std::move(message), std::move(hint)});
    }

    const nn::ModelDef* model() const {
        return sound({"/model/type"}) && at("/model").is_object()
                   ? nn::find_model(at("/model/type").get<std::string>())
                   : nullptr;
    }

    /// With settings that are wrong elsewhere: whether it may be one.
    bool language_model(const nn::ModelDef& def) const {
        return def.context_length != nullptr &&
               (!sound({"/model"}) || def.language_model(at("/model")));
    }

    Delivers delivered() const {
        const Json::json_pointer type("/data/train/type");
        const Json name = document_.contains(type) ? document_.at(type) : Json();
        return name == "idx" || name == "images"                     ? Delivers::images
               : name == "text" || name == "jsonl" || name == "chat" ? Delivers::tokens
                                                                     : Delivers::unknown;
    }

    void version_is_known() {
        if (sound({"/schema_version"}) && at("/schema_version") > 1) {
            error("/schema_version",
                  "this file has version " + at("/schema_version").dump() +
                      ", but this program reads version 1",
                  "Use a newer version of the program.");
        }
    }

    void model_rules() {
        const nn::ModelDef* def = model();
        if (def != nullptr && def->check != nullptr) {
            def->check(at("/model"), "/model", out_);
        }
    }

    void data_fits_model() {
        const nn::ModelDef* def = model();
        if (def == nullptr) {
            return;
        }
        if (delivered() == Delivers::tokens && !language_model(*def) && def->name != "sequential" &&
            def->name != "graph") {
            error("/model/type",
                  std::string(def->name) + " reads images or features, but the data is text",
                  "Use model gpt2 or llama, or sequential with an embedding layer.");
        }
        if (delivered() == Delivers::images && language_model(*def)) {
            error("/model/type", std::string(def->name) + " reads text, but the data is images",
                  "Use model resnet, vit, mlp or sequential.");
        }
    }

    void batch_divides() {
        if (!sound({"/training/global_batch_size", "/training/micro_batch_size"}) ||
            at("/training/micro_batch_size").is_null()) {
            return;
        }
        const auto global = at("/training/global_batch_size").get<std::int64_t>();
        const auto micro = at("/training/micro_batch_size").get<std::int64_t>();
        const std::int64_t ranks = sound({"/mesh"}) ? data_ranks(at("/mesh")) : 1;
        if (global % (micro * ranks) == 0) {
            return;
        }
        if (global % ranks != 0) {
            error("/training/micro_batch_size",
                  "global_batch_size " + std::to_string(global) + " does not divide into " +
                      std::to_string(ranks) + " data ranks, so it is taken in one microstep",
                  "Leave micro_batch_size out, or use a multiple of " + std::to_string(ranks) +
                      ".");
            return;
        }
        std::int64_t nearest = std::min(micro, global / ranks);
        while (global / ranks % nearest != 0) {
            --nearest;
        }
        const std::string over = ranks == 1 ? "" : " over " + std::to_string(ranks) + " data ranks";
        error("/training/micro_batch_size",
              std::to_string(micro) + over + " does not divide global_batch_size " +
                  std::to_string(global),
              "Use " + std::to_string(nearest) + ".");
    }

    void mesh_is_sound() {
        if (sound({"/mesh"})) {
            check_mesh(at("/mesh"), "/mesh", out_);
        }
    }

    void pipeline_is_sound() {
        if (!sound({"/mesh"})) {
            return;
        }
        std::int64_t microbatches = 0;
        if (sound({"/training/global_batch_size", "/training/micro_batch_size"})) {
            const Json& micro = at("/training/micro_batch_size");
            microbatches = micro.is_null()
                               ? 1
                               : at("/training/global_batch_size").get<std::int64_t>() /
                                     (micro.get<std::int64_t>() * data_ranks(at("/mesh")));
        }
        check_stages(at("/mesh"), "/mesh", microbatches, out_);
    }

    // Exact whatever the numbers, but for nothing.
    void experts_divide() {
        const nn::ModelDef* def = model();
        if (def == nullptr || !sound({"/model", "/mesh"})) {
            return;
        }
        const std::int64_t devices = expert_devices(at("/mesh"));
        const std::int64_t experts = def->experts == nullptr ? 0 : def->experts(at("/model"));
        if (devices == 1 || (experts > 0 && experts % devices == 0)) {
            return;
        }
        if (experts == 0) {
            warning("/mesh/strategy", "the mesh splits experts, but the model has none",
                    def->experts == nullptr ? "Use data_parallel."
                                            : "Use data_parallel, or give the model experts.");
            return;
        }
        const std::string numbers = std::to_string(experts) + " experts do not divide over " +
                                    std::to_string(devices) + " devices: ";
        warning("/mesh/axes",
                numbers + (experts < devices ? "each device holds them all"
                                             : "some hold fewer than others, and wait for them"),
                "Choose a number of devices that divides the experts.");
    }

    void length_fits() {
        const nn::ModelDef* def = model();
        if (sound({"/training/length"}) && at("/training/length").contains("tokens") &&
            def != nullptr && !language_model(*def)) {
            error("/training/length/tokens",
                  "a length in tokens needs a language model, but the model is " +
                      std::string(def->name),
                  "Give the length in epochs, steps or minutes.");
        }
    }

    void bits_are_kept() {
        const std::string where = "/training/deterministic";
        if (!sound({where, "/mesh"}) || at(where).get<bool>()) {
            return;
        }
        const auto backend = at("/mesh").at("backend").get<std::string>();
        if (placement_of(at("/mesh")).mesh.single() || backend == "in_process" ||
            backend == "nccl") {
            warning(where,
                    "nothing changes without it: every kernel adds in one order, and only ranks "
                    "on several hosts (mpi, gloo) could add within each host first",
                    "Leave it out.");
        }
    }

    void loss_scale_fits() {
        const std::string where = "/training/loss_scale";
        if (!sound({where, "/training/precision"})) {
            return;
        }
        const Json& scale = at(where);
        const auto of = [&scale](const char* key) { return scale.at(key).get<double>(); };
        if (of("initial") < of("minimum")) {
            error(where + "/initial",
                  scale.at("initial").dump() + " is below the minimum " +
                      scale.at("minimum").dump(),
                  "Start with more, or allow less.");
        } else if (of("initial") > of("maximum")) {
            error(where + "/initial",
                  scale.at("initial").dump() + " is above the maximum " +
                      scale.at("maximum").dump(),
                  "Start with less, or allow more.");
        }
        const config::Field* field = config::find_field(run_config_table(), "training.loss_scale");
        const bool chosen =
            std::any_of(field->fields.begin(), field->fields.end(), [&](const config::Field& one) {
                return scale.at(one.name) != one.default_value;
            });
        if (chosen && at("/training/precision") != "f16") {
            warning(where, "no loss is scaled in " + at("/training/precision").get<std::string>(),
                    "Leave it out, or use precision f16.");
        }
    }

    void schedules_fit() {
        const bool in_steps =
            sound({"/training/length"}) && at("/training/length").contains("steps");
        const auto total = in_steps ? at("/training/length/steps").get<std::int64_t>() : 0;
        if (sound({"/lr_schedule"})) {
            optim::check_schedule(at("/lr_schedule"), total, "/lr_schedule", out_);
        }
        if (!sound({"/optimizer"})) {
            return;
        }
        const Json& groups = at("/optimizer/groups");
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (const Json& schedule = groups[i].at("lr_schedule"); !schedule.is_null()) {
                optim::check_schedule(schedule, total,
                                      "/optimizer/groups/" + std::to_string(i) + "/lr_schedule",
                                      out_);
            }
        }
    }

    void loss_fits_model() {
        const nn::ModelDef* def = model();
        if (def == nullptr || !sound({"/loss"})) {
            return;
        }
        const auto* loss = nn::find_loss(at("/loss/type").get<std::string>());
        if (loss == nullptr || def->loss == (loss->of_input ? loss->name : "")) {
            values_are_shares(*def);
            if (loss != nullptr &&
                (loss->of_input || loss->point != nullptr || loss->symbols != nullptr) &&
                sound({"/data/mix"}) && !at("/data/mix").empty()) {
                error("/data/mix", std::string(loss->name) + " has no classes to mix",
                      "Leave it out.");
            }
        } else if (!def->loss.empty()) {
            error("/loss/type",
                  std::string(def->name) + " is trained by " + std::string(def->loss) +
                      ", but the loss is " + std::string(loss->name),
                  "Use " + std::string(def->loss) + ".");
        } else {
            error("/loss/type",
                  std::string(loss->name) + " needs a model that makes samples, but the model is " +
                      std::string(def->name),
                  "Use model " + makers_of(*loss) + ", or cross_entropy or mse.");
        }
    }

    static std::string makers_of(const nn::LossDef& loss) {
        std::vector<std::string> names;
        for (const nn::ModelDef* def : nn::kModels) {
            if (def->loss == loss.name) {
                names.emplace_back(def->name);
            }
        }
        return join(names, " or ");
    }

    /// Probabilities are of values from 0 to 1, which images are as they are read.
    void values_are_shares(const nn::ModelDef& def) {
        const bool coins = at("/loss").value("likelihood", "") == "bernoulli";
        const bool unmoved =
            def.unmoved != nullptr && sound({"/model"}) && def.unmoved(at("/model"));
        if (!sound({"/data"}) || !(coins || unmoved)) {
            return;
        }
        const std::string name(def.name);
        const std::string who = coins ? "likelihood bernoulli" : "model " + name + " as set";
        const std::string otherwise =
            coins ? "use likelihood gaussian." : "set the model to other values.";
        const Json& transforms = at("/data/transforms");
        for (std::size_t i = 0; i < transforms.size(); ++i) {
            if (transforms[i].at("type") == "normalize") {
                error("/data/transforms/" + std::to_string(i),
                      who + " needs values from 0 to 1, and this moves them",
                      "Leave it out, or " + otherwise);
            }
        }
        if (at("/data/train").value("scale", "") == "standardize") {
            error("/data/train/scale", who + " needs values from 0 to 1, which standardizing moves",
                  "Set it to none, or " + otherwise);
        }
    }

    /// An optimizer that averages leaves nothing to another average, nor to a rate that falls.
    void averages_fit() {
        if (!sound({"/optimizer", "/training", "/lr_schedule"})) {
            return;
        }
        const auto groups = optim::resolve_groups(at("/optimizer"));
        const auto own = std::find_if(groups.begin(), groups.end(), [](const optim::Group& group) {
            return group.optimizer->averages;
        });
        if (own == groups.end()) {
            return;
        }
        const std::string name(own->optimizer->name);
        if (!at("/training/ema_decay").is_null()) {
            error("/training/ema_decay", name + " keeps an average of the weights of its own",
                  "Leave ema_decay out.");
        }
        const Json& type = at("/lr_schedule/type");
        if (groups.back().optimizer->averages && type != "constant" && type != "warmup_constant") {
            warning("/lr_schedule/type",
                    name + " averages in place of a rate that falls, and " +
                        type.get<std::string>() + " falls as well",
                    "Use warmup_constant.");
        }
    }

    void loss_is_sound() {
        const auto* loss =
            sound({"/loss"}) ? nn::find_loss(at("/loss/type").get<std::string>()) : nullptr;
        if (loss != nullptr && loss->check != nullptr) {
            loss->check(at("/loss"), "/loss", out_);
        }
    }

    void targets_stay_as_they_are() {
        const std::string where = "/data/train/scale_targets";
        if (!sound({"/loss", "/data/train"}) || !document_.contains(Json::json_pointer(where))) {
            return;
        }
        const auto* loss = nn::find_loss(at("/loss/type").get<std::string>());
        if (loss != nullptr && (loss->of_shares || loss->symbols != nullptr) &&
            at(where) == "standardize") {
            error(where,
                  std::string(loss->name) +
                      (loss->of_shares ? " needs targets from 0 to 1" : " needs whole numbers") +
                      ", which standardizing moves",
                  "Set it to none, or leave it out.");
        }
        if (!sound({"/metrics"}) || at(where) != "standardize" || !predicts_numbers(loss)) {
            return;
        }
        for (const Json& name : at("/metrics")) {
            const auto* metric = nn::find_metric(name.get<std::string>());
            if (metric != nullptr && metric->of_labels) {
                error(where,
                      std::string(metric->name) +
                          " takes targets for labels, 0 and 1, which standardizing moves",
                      "Set it to none, or leave it out.");
                return;
            }
        }
    }

    static bool predicts_numbers(const nn::LossDef* loss) {
        return loss != nullptr && !loss->needs_classes && !loss->takes_either;
    }

    void loss_fits_data() {
        if (!sound({"/loss", "/data/train"}) || delivered() == Delivers::unknown) {
            return;
        }
        const auto* loss = nn::find_loss(at("/loss/type").get<std::string>());
        if (loss != nullptr && !nn::takes(*loss, true) && !loss->of_input) {
            error("/loss/type",
                  std::string(loss->name) + " needs numbers as targets, but the data has classes",
                  "Use cross_entropy.");
        }
    }

    void metrics_fit() {
        if (!sound({"/metrics", "/loss"})) {
            return;
        }
        metrics_differ();
        const auto* loss = nn::find_loss(at("/loss/type").get<std::string>());
        const nn::ModelDef* def = model();
        const Json& metrics = at("/metrics");
        for (std::size_t i = 0; loss != nullptr && i < metrics.size(); ++i) {
            const auto* metric = nn::find_metric(metrics[i].get<std::string>());
            const std::string pointer = "/metrics/" + std::to_string(i);
            if (metric->part_of != (loss->of_input ? loss->name : "")) {
                error(pointer,
                      metric->part_of.empty()
                          ? "metric " + std::string(metric->name) + " is of targets, and loss " +
                                std::string(loss->name) + " has none"
                          : std::string(metric->name) + " is a part of " +
                                std::string(metric->part_of) + ", and the loss is " +
                                std::string(loss->name),
                      hint_for(*loss));
            } else if (metric->of_points != (loss->point != nullptr) ||
                       metric->of_symbols != (loss->symbols != nullptr) ||
                       (!metric->takes_either && !nn::takes(*loss, metric->needs_classes))) {
                error(pointer,
                      "metric " + std::string(metric->name) + " does not go with loss " +
                          std::string(loss->name),
                      hint_for(*loss));
            } else if (metric->from_loss != nullptr && !in_nats(*loss)) {
                error(pointer,
                      std::string(metric->name) + " follows from cross_entropy, and the loss is " +
                          std::string(loss->name) +
                          (loss->in_nats == nullptr ? "" : " with z_loss or weights of classes"),
                      "Use accuracy.");
            } else if (metric->of_verdict && def != nullptr && !def->holds_samples) {
                error(pointer,
                      std::string(metric->name) +
                          " needs a model that says when it has done with a sample",
                      "Use exact_accuracy, or model trm.");
            } else if ((metric->name == "bits_per_byte" || metric->of_text) && def != nullptr &&
                       !language_model(*def)) {
                error(pointer, std::string(metric->name) + " needs a language model",
                      "Use accuracy.");
            } else if (metric->name == "bits_per_byte" && !tokens_are_bytes()) {
                error(pointer, "bits_per_byte needs tokens that are bytes", "Use perplexity.");
            }
        }
    }

    bool in_nats(const nn::LossDef& loss) const {
        return loss.in_nats != nullptr && loss.in_nats(at("/loss"));
    }

    bool tokens_are_bytes() const {
        if (!sound({"/data/train/type", "/data/tokenizer"})) {
            return true; // what is wrong there is told
        }
        const Json& tokenizer = at("/data/tokenizer");
        return (tokenizer.is_null() && at("/data/train/type") != "tokens") || tokenizer == "bytes";
    }

    void metrics_differ() {
        const Json& metrics = at("/metrics");
        for (std::size_t i = 0; i < metrics.size(); ++i) {
            const auto here = metrics.begin() + static_cast<std::ptrdiff_t>(i);
            if (std::find(metrics.begin(), here, *here) != here) {
                error("/metrics/" + std::to_string(i),
                      "metric " + here->get<std::string>() + " is named twice", "Name it once.");
            }
        }
    }

    void mirror_is_in_a_store() {
        if (!sound({"/checkpoint/mirror"}) || at("/checkpoint/mirror").is_null()) {
            return;
        }
        try {
            store::parse_address(at("/checkpoint/mirror").get<std::string>());
        } catch (const Error& fault) {
            error("/checkpoint/mirror", fault.text(), fault.hint());
        }
    }

    void judged_metrics_exist() {
        judged_metric_exists("/checkpoint");
        if (sound({"/training/early_stopping"}) && !at("/training/early_stopping").is_null()) {
            judged_metric_exists("/training/early_stopping");
            is_evaluated("/training/early_stopping");
        }
        if (!sound({"/lr_schedule", "/optimizer"})) {
            return;
        }
        const auto look = [&](const std::string& schedule) {
            if (!at(schedule).is_null() && !optim::watched_metric(at(schedule)).empty()) {
                judged_metric_exists(schedule);
                is_evaluated(schedule);
            }
        };
        look("/lr_schedule");
        for (std::size_t i = 0; i < at("/optimizer/groups").size(); ++i) {
            look("/optimizer/groups/" + std::to_string(i) + "/lr_schedule");
        }
    }

    /// What was asked for shall happen, and there are no evaluations of a split that there is not.
    void is_evaluated(const std::string& section) {
        const std::string pointer = section + "/metric";
        if (sound({pointer, "/data/validation"}) && at("/data/validation").is_null() &&
            at(pointer).get<std::string>().starts_with("validation/")) {
            error(pointer, "there is no validation split to be judged",
                  "Use train/loss, or give data.validation.");
        }
    }

    /// A section with a "metric" and its "mode".
    void judged_metric_exists(const std::string& section) {
        const std::string pointer = section + "/metric";
        if (!sound({pointer, section + "/mode", "/metrics"})) {
            return;
        }
        const auto name = at(pointer).get<std::string>();
        const std::size_t slash = name.find('/');
        const std::string split_name = name.substr(0, slash);
        const std::string metric = slash == std::string::npos ? "" : name.substr(slash + 1);
        const Json& metrics = at("/metrics");
        const bool reported = metric == "loss" || std::find(metrics.begin(), metrics.end(),
                                                            Json(metric)) != metrics.end();
        if (split_name != "validation" && split_name != "train") {
            error(pointer, "'" + shown(name) + "' is not a metric of a split",
                  "Write validation/loss or train/loss.");
        } else if (reported && split_name == "train" && of_whole_sets(metric)) {
            error(pointer, metric + " is of a whole evaluation set, which training has none of",
                  "Use validation/" + metric + ".");
        } else if (!reported) {
            error(pointer, "'" + shown(metric) + "' is not reported",
                  "Add it to metrics, or use " + split_name + "/loss.");
        } else {
            direction_fits(section + "/mode", metric);
        }
    }

    static bool of_whole_sets(const std::string& metric) {
        const auto* def = nn::find_metric(metric);
        return def != nullptr && def->row != nullptr;
    }

    void direction_fits(const std::string& mode, const std::string& metric) {
        const auto* def = nn::find_metric(metric);
        const bool higher = def != nullptr && def->higher_is_better;
        const bool keeps_higher = at(mode) == "max";
        if (higher != keeps_higher) {
            warning(mode,
                    "the " + std::string(keeps_higher ? "highest " : "lowest ") + metric +
                        " counts as best",
                    higher ? "Set mode to \"max\"." : "Set mode to \"min\".");
        }
    }

    void something_is_trained() {
        if (!sound({"/init"})) {
            return;
        }
        const Json& lora = at("/init/lora");
        const Json& trainable = at("/init/trainable");
        if (lora.is_null() && trainable.is_array() && trainable.empty()) {
            error("/init/trainable", "no parameter is trained", "Leave it out to train all.");
        } else if (!lora.is_null() && lora.at("targets").empty()) {
            error("/init/lora/targets", "no linear layer gets factors",
                  "Leave it out for those of all blocks, or leave init.lora out.");
        } else if (!lora.is_null() && at("/init/from").is_null() && lora.at("save_base") == false) {
            error("/init/lora/save_base", "random weights would lie nowhere",
                  "Name weights by init.from, or leave it out.");
        } else if (!lora.is_null() && at("/init/from").is_null()) {
            warning("/init/lora", "what the factors are added to are random weights, which stay so",
                    "Name weights by init.from.");
        }
    }

    const Json& document_;
    Diagnostics& out_;
};

} // namespace

void fill_dependent_defaults(Json& document) {
    if (!document.at("metrics").is_null()) {
        return;
    }
    const Json& loss = document.at("loss");
    const auto* def =
        loss.is_object() ? nn::find_loss(loss.at("type").get<std::string>()) : nullptr;
    const bool classes =
        def != nullptr && (def->takes_either ? gives_classes(document) : def->needs_classes);
    if (def != nullptr && (def->point != nullptr || def->symbols != nullptr)) {
        document["metrics"] =
            Json::array({def->point != nullptr ? "nearest_accuracy" : "symbol_error_rate"});
        return;
    }
    document["metrics"] = classes          ? Json::array({"accuracy"})
                          : def != nullptr ? Json(parts_of(*def))
                                           : Json::array();
}

void check_rules(const Json& document, Diagnostics& out) {
    Rules(document, out).run();
}

} // namespace weft::compile
