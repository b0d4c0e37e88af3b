// SPDX-License-Identifier: Apache-2.0
#include "kernels/expert_shape.h"

namespace weft::kernels {

ExpertShape expert_shape(const Type& rows, const Type& places, const Type& tokens) {
    require(rows.rank == 4 && places.rank == 3 && tokens.rank == 3,
            "expert routing needs rows [E, N, A, C], places [N, T, K] and tokens [N, T, C]");
    ExpertShape out;
    out.experts = rows.shape[0];
    out.samples = rows.shape[1];
    out.capacity = rows.shape[2];
    out.channels = rows.shape[3];
    out.tokens = places.shape[1];
    out.choices = places.shape[2];
    require(places.shape[0] == out.samples && tokens.shape[0] == out.samples &&
                tokens.shape[1] == out.tokens && tokens.shape[2] == out.channels,
            "rows, places and tokens do not belong together");
    return out;
}

} // namespace weft::kernels
