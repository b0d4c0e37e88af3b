// SPDX-License-Identifier: Apache-2.0
#include "core/train/logging/log_recipe.h"
#include "core/train/reference/reference.h"

namespace weft::train {

const ReferencePage& logging_page() {
    static const ReferencePage kPage = [] {
        ReferencePage page = {
            "logging",
            "Log from a loop of your own",
            "Two lines, and the studio shows a run that another program trains, while it trains: "
            "open the folder logs, or a folder above it. Scalars become curves; pictures, "
            "histograms, texts, sounds and curves of precision over recall get views of their own. "
            "`weft runs media logs/run1` prints what is there beside scalars.",
            {}};
        for (const LogRecipe& recipe : log_recipes()) {
            page.sections.push_back({recipe.program,
                                     recipe.needs,
                                     {{recipe.once, "", "Once, before the loop."},
                                      {recipe.each, "", "At each step."}}});
        }
        return page;
    }();
    return kPage;
}

} // namespace weft::train
