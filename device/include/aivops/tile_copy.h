// Copies between places in global memory: through the unified buffer, in two alternating tiles, any length, byte exact.
// Loads of the next tile overlap stores of the last one.
#ifndef AIVOPS_TILE_COPY_H
#define AIVOPS_TILE_COPY_H

#include "kernel_operator.h"

namespace aivops {

// Two tiles of the first size fill most of the smallest unified buffer; the second leaves room for Fold.
constexpr uint32_t kLargeTileBytes = 64 * 1024;
constexpr uint32_t kSmallTileBytes = 16 * 1024;

template <typename T, uint32_t kTileBytes = kLargeTileBytes>
class TileCopy {
  public:
    __aicore__ inline explicit TileCopy(AscendC::TPipe& pipe) { pipe.InitBuffer(tiles_, 2, kTileBytes); }

    __aicore__ inline void copy(__gm__ T* destination, __gm__ T* source, uint64_t count) {
        copy(destination, static_cast<__gm__ T*>(nullptr), source, count);
    }

    // Reads once and writes to both places; `second` may be null.
    __aicore__ inline void copy(__gm__ T* first, __gm__ T* second, __gm__ T* source, uint64_t count) {
        for (uint64_t done = 0; done < count; done += kTileCount) {
            const uint64_t rest = count - done;
            const uint32_t bytes = static_cast<uint32_t>((rest < kTileCount ? rest : kTileCount) * sizeof(T));
            load(source + done, bytes);
            AscendC::LocalTensor<T> tile = tiles_.template DeQue<T>();
            store(first + done, tile, bytes);
            if (second != nullptr) {
                store(second + done, tile, bytes);
            }
            tiles_.FreeTensor(tile);
        }
    }

  private:
    static constexpr uint64_t kTileCount = kTileBytes / sizeof(T);

    __aicore__ inline void load(__gm__ T* source, uint32_t bytes) {
        AscendC::LocalTensor<T> tile = tiles_.template AllocTensor<T>();
        AscendC::GlobalTensor<T> global;
        global.SetGlobalBuffer(source);
        AscendC::DataCopyPad(tile, global, AscendC::DataCopyExtParams(1, bytes, 0, 0, 0),
                             AscendC::DataCopyPadExtParams<T>(false, 0, 0, 0));
        tiles_.EnQue(tile);
    }

    __aicore__ inline void store(__gm__ T* destination, AscendC::LocalTensor<T>& tile, uint32_t bytes) {
        AscendC::GlobalTensor<T> global;
        global.SetGlobalBuffer(destination);
        AscendC::DataCopyPad(global, tile, AscendC::DataCopyExtParams(1, bytes, 0, 0, 0));
    }

    AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1> tiles_;
};

} // namespace aivops

#endif // AIVOPS_TILE_COPY_H
