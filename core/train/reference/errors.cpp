// SPDX-License-Identifier: Apache-2.0
#include "core/train/reference/reference.h"

namespace weft::train {

const ReferencePage& errors_page() {
    static const ReferencePage kPage = {
        "errors",
        "Errors and exit codes",
        "An error says what happened, where (file, setting, op and layer), and what to do. `weft` "
        "writes "
        "it to standard error and ends with the exit code of its kind; a run also records it as an "
        "`error` event. Mistakes in a configuration are told all at once, each with its place.",
        {{"Kinds",
          "In the `error` event, under the key \"kind\".",
          {{"runtime", "exit 1", "The system failed: a file cannot be written, the disk is full."},
           {"usage", "exit 2", "The command line or the configuration is wrong."},
           {"data", "exit 3", "Data are damaged, missing, or not what the model takes."},
           {"checkpoint", "exit 3", "A checkpoint is damaged, or does not fit the model."},
           {"memory", "exit 4", "The run does not fit into memory; the ways on say what would."},
           {"diverged", "exit 5", "A loss or gradient is not finite. The state before is saved."},
           {"device", "exit 6", "A device or the communication between devices failed."}}},
         {"Exit codes",
          "",
          {{"0", "", "Done. Of `checkpoint diff` and `plan --verify`: equal."},
           {"1", "", "A failure at run time. Of `checkpoint diff` and `plan --verify`: different."},
           {"2", "", "Wrong usage or configuration."},
           {"3", "", "Damaged or incompatible data or checkpoint."},
           {"4", "", "Does not fit in memory."},
           {"5", "", "Diverged."},
           {"6", "", "A device or communication failed."},
           {"75", "", "Stopped on request, with a checkpoint to resume from."},
           {"129, 130, 143", "",
            "Ended now by SIGHUP, SIGINT, SIGTERM: 128 and the signal's "
            "number."}}},
         {"Signals",
          "",
          {{"SIGINT, SIGTERM, SIGHUP", "",
            "Once: finish the step, save, end with 75. Twice: end now."},
           {"SIGUSR1", "", "Save a checkpoint and go on."}}}}};
    return kPage;
}

} // namespace weft::train
