// SPDX-License-Identifier: Apache-2.0
#include "core/train/reference/reference.h"

namespace weft::train {

const ReferencePage& run_folder_page() {
    static const ReferencePage kPage = {
        "run-folder",
        "The folder of a run",
        "Everything that a run leaves, readable without Weft. Files are written beside their "
        "place, "
        "synchronised and renamed, so that none is ever half there. What is recorded is never "
        "renumbered or overwritten: training on from an earlier step is a new run, a fork.",
        {{"Files",
          "",
          {{"run.json", "JSON", "What the run is: its keys are below."},
           {"config.json", "JSON", "The whole configuration, defaults included; frozen."},
           {"plan.json", "JSON", "The plan that it was started with: `weft help plan`."},
           {"events.jsonl", "JSON lines", "What happened: `weft help events`."},
           {"run.weftrun", "text", "Opens the run by a double click."},
           {"lock", "JSON", "Who trains in this folder, while somebody does."},
           {"annotations.json", "JSON", "Tags, notes and stars that people gave it."},
           {"metrics/<name>.f64", "records",
            "One series: records of 24 bytes, little endian: step "
            "(64 bit integer), time (seconds since 1970), value."},
           {"metrics/events.out.tfevents.*", "TensorBoard", "The same for TensorBoard."},
           {"wandb/offline-run-*", "Weights & Biases",
            "The same for `wandb sync`, one folder for each session; where log.wandb names a "
            "project."},
           {"samples/step-<N>.json", "JSON", "Predictions on the fixed validation samples."},
           {"samples/step-<N>.png", "PNG",
            "Of a model that makes samples: those of the data, what it gives back of them, and "
            "what it makes of the same latents each time, row by row."},
           {"divergence/step-<N>.json", "JSON",
            "What was found of an update whose loss or gradient was not finite: `weft divergence` "
            "shows it."},
           {"divergence/step-<N>.npz", "NumPy",
            "Its batch as the model saw it, where not too large."},
           {"divergence/step-<N>.png", "PNG", "Samples of it that are pictures."},
           {"inside/layers.cbor", "CBOR sequence",
            "Histograms and norms of weights, gradients, updates and activations, where "
            "log.inside_every asks for them: `weft runs layers` shows them."},
           {"audit/audit.json", "JSON",
            "Samples that teach wrongly, the worst first, as `weft data audit` prints them with "
            "--json."},
           {"checkpoints/step-<N>/", "folder", "A checkpoint: its files are below."},
           {"logs/", "folder", "What the process of the run printed."},
           {"mirror.json", "JSON",
            "Of a copy of another host's run: `host` and `run`, its folder there. `weft hosts "
            "follow` keeps it up to date."},
           {"profile/", "folder",
            "Recordings of steps, step-<N>.json by the first of each: `weft profile` reads "
            "them."}}},
         {"run.json",
          "",
          {{"schema_version", "integer", "Of this file: 1."},
           {"id", "text", "The name of the folder when the run began."},
           {"name", "text", "As the configuration has it."},
           {"parent", "object or null", "Of a fork: the run and step that it began with."},
           {"state", "text", "As the `state` event has it."},
           {"message", "text", "Why it failed."},
           {"created", "number", "Seconds since 1970-01-01 00:00 UTC."},
           {"seconds", "number", "Time spent training."},
           {"total_steps", "integer", "Planned length; 0: it is measured in minutes."},
           {"parameters", "integer", "Trainable elements."},
           {"model", "text", "Its type."},
           {"data", "text", "The data in words."},
           {"data_fingerprint", "text", "What tells these data from others."},
           {"environment", "object", "Version, threads, kernels and host that it was begun with."},
           {"base_dir", "text", "Where relative paths of the configuration count from."}}},
         {"Checkpoint",
          "Complete as soon as manifest.json is there. A step that is there once is never written "
          "again.",
          {{"manifest.json", "JSON",
            "Step, metrics, position in the data, random keys, the "
            "configuration; of every array its name, element type, shape, "
            "spec, file, offset and checksum (CRC-32C, also per MiB)."},
           {"arrays-<N>.h5", "HDF5", "The arrays, for any HDF5 reader."},
           {"checkpoint.weftckpt", "text", "Opens the checkpoint by a double click."}}}}};
    return kPage;
}

} // namespace weft::train
