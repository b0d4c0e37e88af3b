// SPDX-License-Identifier: Apache-2.0
#include "core/train/logging/log_recipe.h"

namespace weft::train {

std::span<const LogRecipe> log_recipes() {
    static constexpr LogRecipe kRecipes[] = {
        {"PyTorch", "Needs the package tensorboard beside torch.",
         "from torch.utils.tensorboard import SummaryWriter; "
         "writer = SummaryWriter(\"logs/run1\", flush_secs=2)",
         "writer.add_scalar(\"train/loss\", loss.item(), step)"},
        {"JAX", "Needs the package tensorboardX; any other loop in Python can use it, too.",
         "from tensorboardX import SummaryWriter; "
         "writer = SummaryWriter(\"logs/run1\", flush_secs=2)",
         "writer.add_scalar(\"train/loss\", float(loss), step)"},
    };
    return kRecipes;
}

} // namespace weft::train
