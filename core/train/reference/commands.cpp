// SPDX-License-Identifier: Apache-2.0
#include "core/train/reference/reference.h"

namespace weft::train {

const ReferencePage& commands_page() {
    static const ReferencePage kPage = {
        "commands",
        "Commands to a run",
        "A command is a JSON object on one line, such as {\"command\": \"pause\", \"id\": \"7\"}. "
        "`weft "
        "train --control stdin` reads them from standard input, `--control FILE` from a socket "
        "that "
        "it makes there; every run has a socket of its own, which the studio uses. Each is "
        "answered at "
        "once by a `command` event with its id, and carried out between two steps. `weft tell RUN "
        "COMMAND` sends one.",
        {{"Every command",
          "",
          {{"command", "text", "Its name."},
           {"id", "text", "Comes back with the answer; chosen by the sender. May be left out."},
           {"by", "text", "Who sends it, for the log. May be left out."}}},
         {"Names",
          "",
          {{"pause", "", "Waits after this step, its evaluation and its save."},
           {"resume", "", "Goes on."},
           {"step", "", "One step of a paused run."},
           {"checkpoint", "", "Saves now; that checkpoint is kept."},
           {"evaluate", "", "Measures the validation split now."},
           {"profile", "",
            "Records the next steps for `weft profile`: {\"steps\": N}, 1 to 10,000."},
           {"extend", "", "Trains longer: {\"steps\": N} more."},
           {"set", "", "Changes a setting while the run goes on: {\"path\": ..., \"value\": ...}."},
           {"stop", "", "Finishes the step, saves and ends; the run can be resumed."},
           {"stop_now", "", "Ends without saving; the newest checkpoint stays."}}},
         {"Settings that `set` changes",
          "All others are fixed: changing one is a fork (`weft resume --fork`). A change is "
          "recorded "
          "as a `settings` event with the step from which on it holds, and a resume from an "
          "earlier "
          "checkpoint repeats it there.",
          {{"learning_rate_multiplier", "number", "Times the schedule's rate, above 0."},
           {"optimizer.learning_rate", "number",
            "The same as a rate: the multiplier becomes this by that of the configuration."},
           {"training.log_every", "integer", "Steps between lines on the console."},
           {"log.inside_every", "integer", "Steps between looks inside the network; 0: none."},
           {"frozen", "list of text",
            "Layers that stay as they are, by names, names of what they lie in or patterns, where "
            "training.freezable is on: as with a rate of 0 and without decay. [] thaws all."},
           {"training.length", "object",
            "{\"steps\": N}, {\"epochs\": X}, {\"minutes\": M} or "
            "{\"tokens\": N}."},
           {"evaluation.every", "object", "{\"steps\": N}, {\"epochs\": X} or {\"minutes\": M}."},
           {"checkpoint.every", "object or null", "The same; null: none by time."}}}}};
    return kPage;
}

} // namespace weft::train
