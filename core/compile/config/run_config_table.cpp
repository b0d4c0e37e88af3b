// SPDX-License-Identifier: Apache-2.0
// The whole table of settings, put together from the records of models, losses, optimizers,
// schedules and data. Choices list what this version can do; names that are only planned:
// unavailable.cpp.
#include "core/compile/config/run_config.h"

#include "core/compile/config/run_rules.h"
#include "core/data/dataset.h"
#include "core/nn/loss_def.h"
#include "core/nn/models/model_list.h"
#include "core/optim/optimizer_list.h"
#include "core/optim/schedule.h"
#include "core/pipeline/schedule_list.h"
#include "core/sharding/strategies/strategy_list.h"

namespace weft::compile {
namespace {

using namespace config;

Field with_choice_aliases(Field field, std::vector<std::string> aliases) {
    field.aliases = std::move(aliases);
    return field;
}

Field model_field() {
    std::vector<RecordType> records;
    for (const nn::ModelDef* def : nn::kModels) {
        records.push_back({std::string(def->name), std::string(def->help), def->fields()});
    }
    return record_field("model", nullptr, std::move(records), "The network.").must_be_given();
}

Field loss_field() {
    std::vector<RecordType> records;
    for (const nn::LossDef* def : nn::kLosses) {
        records.push_back({std::string(def->name), std::string(def->help), def->fields()});
    }
    return record_field("loss", Json{{"type", "cross_entropy"}}, std::move(records),
                        "What training makes small.");
}

Field metrics_field() {
    std::vector<std::string> names;
    for (const nn::MetricDef* def : nn::kMetrics) {
        names.emplace_back(def->name);
    }
    return list_field(
               "metrics", nullptr, choice_field("metric", nullptr, names, "A metric."),
               "Reported beside the loss; null: accuracy where there are classes, and the parts "
               "of a loss that has some.")
        .or_null();
}

Field lora_field() {
    return object_field(
               "lora",
               {path_field("from", nullptr,
                           "A folder of peft's, whose factors these start as; rank and alpha left "
                           "out are its own. Null: the layers start as the weights are.")
                    .or_null(),
                integer_field("rank", 8, "Columns of the first factor and rows of the second.")
                    .range(1, 1 << 16),
                real_field("alpha", 16.0, "The product of the factors counts alpha / rank times.")
                    .above(0.0),
                list_field("targets", Json::array({"blocks.*"}),
                           text_field("pattern", nullptr,
                                      "Names of weights of linear layers, * for any characters.")
                               .must_be_given(),
                           "Linear layers that get factors; each pattern must be for one."),
                real_field("dropout", 0.0,
                           "Share of a layer's inputs that its factors do not see, while training.")
                    .range(0.0, 0.99),
                boolean_field("save_base", true,
                              "Checkpoints hold what is not trained, too. Without it they are "
                              "small, and of no use without the weights of init.from, unchanged.")},
               "Fine-tuning by low-rank factors (LoRA): the model's own parameters stay as they "
               "are, bit for bit, and two small matrices per linear layer are trained; null: "
               "without.")
        .or_null();
}

FieldTable init_fields() {
    return {path_field(
                "from", nullptr,
                "Weights that the run starts with: a checkpoint, a run, a safetensors file or the "
                "index of several, or a model's folder of Hugging Face's, here or in an object "
                "store (s3://, gs://); by our names or by those of transformers, torchvision or "
                "timm.")
                .or_null(),
            boolean_field("strict", true,
                          "Every parameter must be found there, fit, and mean the same."),
            list_field("trainable", nullptr,
                       text_field("pattern", nullptr, "Parameter names, * for any characters.")
                           .must_be_given(),
                       "Parameters that are trained; the others stay as they are. Null: all, or "
                       "with lora its factors alone.")
                .or_null(),
            lora_field()};
}

/// A power of two loses no digit.
FieldTable loss_scale_fields() {
    return {
        real_field("initial", 65536.0, "The scale of the first update.").above(0.0),
        integer_field("growth_interval", 2000,
                      "Updates in a row without overflow after which it grows.")
            .range(1, 1 << 24)
            .in("updates"),
        integer_field("hysteresis", 2,
                      "From so many overflows in a row on it shrinks; a single one before is "
                      "skipped and forgiven.")
            .range(1, 1 << 24)
            .in("updates"),
        real_field("growth", 2.0, "Factor by which it grows.").range(1.0, 65536.0),
        real_field("backoff", 0.5, "Factor by which it shrinks.").range(0.0, 0.999999).above(0.0),
        real_field("minimum", 1.0, "If it would have to be smaller, the run has diverged.")
            .above(0.0),
        real_field("maximum", 16777216.0, "It grows no further.").above(0.0)};
}

FieldTable training_fields() {
    return {
        length_field(
            "length", Json{{"epochs", 5}},
            "When the run is finished. Left out: whole epochs that make about 2,000 updates, "
            "5 at least and 200 at most."),
        integer_field(
            "global_batch_size", 256,
            "Samples per update over all devices. Left out: fewer where the data is small.")
            .range(1, 1 << 24)
            .in("samples"),
        integer_field("micro_batch_size", nullptr,
                      "Samples per forward and backward pass; null: the whole share at once.")
            .or_null()
            .range(1, 1 << 24)
            .in("samples"),
        real_field("max_grad_norm", 1.0, "Gradients are scaled down to this global norm.")
            .or_null()
            .above(0.0),
        real_field("ema_decay", nullptr, "Keeps a moving average of the weights with this decay.")
            .or_null()
            .range(0.0, 0.999999),
        with_choice_aliases(
            choice_field("precision", "bf16", {"f32", "tf32", "bf16", "f16", "fp8"},
                         "Number format of the computation; bf16 and f16 keep f32 "
                         "weights, and gradients are summed and exchanged in "
                         "f32, whatever the strategy. f16 scales the loss. On GPUs: tf32 is f32 "
                         "whose products read 10 bits behind the first; fp8 is bf16 whose linear "
                         "layers multiply 8-bit numbers, scaled for each product."),
            {"fp32=f32", "float32=f32", "bfloat16=bf16", "fp16=f16", "float16=f16"}),
        object_field("loss_scale", loss_scale_fields(),
                     "What precision f16 multiplies the loss by, so that small gradients are not "
                     "lost; it follows what overflows.")
            .for_experts(),
        choice_field("recompute", "none", {"none", "blocks", "auto"},
                     "Activations that the backward pass computes again instead of keeping them: "
                     "those inside the model's blocks, or as few as memory_budget asks for."),
        integer_field("memory_budget", nullptr,
                      "Memory that the run may take: recompute 'auto' keeps to it, and a run that "
                      "needs more is refused; null: what the machine has.")
            .or_null()
            .above(0.0)
            .in("bytes")
            .for_experts(),
        boolean_field(
            "deterministic", true,
            "The same bits on every run, and on ranks with a process each as on simulated devices. "
            "Every kernel keeps to it, on CPU and GPU. Off: where CPU ranks run on several hosts, "
            "as many on each, gradients are added up within each host before they go between "
            "hosts, so that less goes over the network; the last bits then depend on which hosts "
            "have which ranks.")
            .for_experts(),
        choice_field("on_nonfinite", "stop", {"stop", "skip", "rewind"},
                     "What happens when loss or gradient is not finite: the run stops at the last "
                     "good state; or the update is skipped with its batch, and the tenth in a row "
                     "stops it; or the run goes back to the last good state and leaves the update "
                     "out that spoilt it, for which it saves its beginning. f16 skips what "
                     "overflows either way."),
        integer_field("most_rewinds", 3,
                      "With on_nonfinite rewind: so many updates are left out within a hundred; "
                      "one more stops the run.")
            .range(1, 100)
            .in("updates")
            .for_experts(),
        list_field("pass_over", Json::array(),
                   integer_field("", 1, "").range(1, 9007199254740992.0),
                   "Updates that are left out, by number: each counts as a step, and its batch is "
                   "passed over.")
            .for_experts(),
        boolean_field("freezable", false,
                      "Layers can be frozen and thawed while the run trains; the step is planned "
                      "for it.")
            .for_experts(),
        object_field(
            "early_stopping",
            {text_field("metric", "validation/loss",
                        "What has to improve, such as validation/loss."),
             choice_field("mode", "min", {"min", "max"},
                          "Which direction of the metric is better."),
             integer_field("patience", 20,
                           "Evaluations without improvement after which the run is "
                           "finished.")
                 .at_least(1)
                 .in("evaluations"),
             real_field("min_delta", 0.0, "Smaller improvements do not count.").at_least(0.0)},
            "Ends the run when its metric stops improving; null: never. Left out, small "
            "tables of default length have it.")
            .or_null(),
        integer_field("log_every", 1, "Steps between lines on the console; never thins the store.")
            .at_least(1)
            .in("steps")};
}

FieldTable evaluation_fields() {
    return {cadence_field("every", Json{{"epochs", 1}}, "How often the validation data is run."),
            boolean_field("at_start", true, "Also before the first update."),
            integer_field("max_batches", nullptr, "Batches per evaluation; null: all.")
                .or_null()
                .at_least(1)
                .in("batches"),
            boolean_field("use_ema", true, "With the averaged weights, where there are any."),
            integer_field("samples", 16,
                          "Validation samples, always the same, whose predictions each "
                          "evaluation keeps; a language model goes on with four at most.")
                .range(0, 1024)
                .in("samples")};
}

FieldTable mesh_fields() {
    std::vector<std::string> strategies;
    for (const sharding::StrategyDef* strategy : sharding::all_strategies()) {
        strategies.emplace_back(strategy->name);
    }
    std::vector<std::string> schedules;
    for (const pipeline::ScheduleDef& schedule : pipeline::schedule_list()) {
        schedules.emplace_back(schedule.name);
    }
    return {
        text_field(
            "devices", "auto",
            "Where the run computes: auto (the first NVIDIA GPU that passes its self-test and has "
            "room for the run; the CPU where none passes), cpu, cpu:N for N simulated devices "
            "(exact, not faster), cuda for the first NVIDIA GPU, cuda:N for the first N, or "
            "GPUs by number as in cuda:0,2 (cuda:1, is the second alone)."),
        any_field("axes", Json::array({Json::array({"data", -1})}),
                  "Mesh axes, major to minor, as [name, size]; -1 is inferred."),
        choice_field("strategy", "data_parallel", strategies, "How work is spread over the mesh."),
        integer_field("zero_stage", 0,
                      "Split over the data ranks: 1 optimizer state, 2 and gradients, 3 and "
                      "parameters.")
            .range(0, 3),
        any_field("rules", Json::array(),
                  "Pairs of a logical axis and the mesh axes that split it, or none; before the "
                  "strategy's. Of sequence over model: what stands between layers is split, "
                  "too."),
        map_field("specs", Json::object(), text_field("spec", nullptr, "P(...)"),
                  "Placement of single tensors by name pattern."),
        object_field("pipeline",
                     {choice_field("schedule", "1f1b", schedules,
                                   "Order in which stages work on microbatches."),
                      any_field("stages", nullptr,
                                "Layers of each stage, or of each of its chunks in model order: "
                                "[3, 2]; null: balanced by FLOPs."),
                      path_field("file", nullptr, "A schedule of one's own.").or_null()},
                     "How layers and microbatches are spread over the axis that the rule for "
                     "layers names.")
            .for_experts(),
        choice_field("backend", "auto", {"auto", "in_process", "mpi", "gloo", "nccl"},
                     "What devices exchange through: in_process where one process has them all; "
                     "mpi or gloo where each has a process of its own (`weft launch`), of GPUs "
                     "nccl. auto: of GPUs nccl, else mpi where mpirun or srun started them, else "
                     "gloo.")
            .for_experts(),
        real_field(
            "exchange_timeout", 600,
            "A run ends with a report when a device is waited for and none comes past anything "
            "for so long: no begin or end of an exchange, on GPUs no step and no hundred calls "
            "of kernels either. Keep it above the longest computation between two of these.")
            .above(0)
            .in("seconds")
            .for_experts()};
}

FieldTable checkpoint_fields() {
    return {
        cadence_field("every", Json{{"steps", 500}},
                      "How often; null: only on improvement. Either way a first one is saved after "
                      "30 s.")
            .or_null(),
        boolean_field("on_improvement", true, "Saves when an evaluation improves the metric."),
        integer_field("keep_latest", 2, "Newest checkpoints that stay.").at_least(1),
        integer_field("keep_best", 3, "Best checkpoints that stay, besides the newest.")
            .at_least(0),
        integer_field("keep_every", nullptr, "Checkpoints at multiples of this always stay.")
            .or_null()
            .at_least(1)
            .in("steps"),
        text_field("metric", "validation/loss",
                   "What the best one is best by, such as validation/loss."),
        choice_field("mode", "min", {"min", "max"}, "Which direction of the metric is better."),
        boolean_field("async", true, "Writes in the background."),
        text_field("mirror", nullptr,
                   "A folder in an object store, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER, where a "
                   "copy of what stays is kept under the name of the run. "
                   "Credentials and endpoint are those of the AWS command line: "
                   "AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, ~/.aws.")
            .or_null()};
}

FieldTable make_table() {
    return {integer_field("schema_version", 1, "Version of this format.").at_least(1),
            text_field("name", "run", "Name of the run and of its folder."),
            text_field("notes", "", "Anything worth remembering."),
            list_field("tags", Json::array(), text_field("tag", nullptr, "A word."),
                       "Words to find the run by."),
            integer_field("seed", 0, "Seed of every random number of the run.").at_least(0),
            object_field("data", data::data_fields(), "What the network learns from."),
            model_field(),
            object_field("init", init_fields(), "Where the weights start."),
            loss_field(),
            metrics_field(),
            optim::optimizer_field(optim::schedule_field()),
            optim::schedule_field(),
            object_field("training", training_fields(), "Length, batch and numbers."),
            object_field("evaluation", evaluation_fields(), "Checks on data not trained on."),
            object_field("mesh", mesh_fields(), "Devices."),
            object_field("checkpoint", checkpoint_fields(), "What is saved, and what stays."),
            object_field(
                "log",
                {boolean_field("tensorboard", true,
                               "Also writes event files for TensorBoard: scalars, and "
                               "histograms where inside_every looks."),
                 text_field("wandb", nullptr,
                            "Also writes a folder wandb/ for this project of Weights & Biases, "
                            "which `wandb sync` uploads.")
                     .or_null(),
                 integer_field("inside_every", 0,
                               "Steps between looks inside the network: histograms and norms of "
                               "weights, gradients, updates and activations by layer; 0: none. "
                               "Every 50 costs about a hundredth of the time.")
                     .at_least(0)
                     .in("steps")},
                "Records besides the run's own.")};
}

} // namespace

const FieldTable& run_config_table() {
    static const FieldTable table = make_table(); // immutable, made on first use
    return table;
}

} // namespace weft::compile
