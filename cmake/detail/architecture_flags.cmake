# Compiler flags of an independent AIV binary, as data: what HCCL passes for dav-c310-vec and HCOMM for dav-c220-vec.
# Every toolkit gets the same ones.

# Options: AUTO_SYNC, RECORD_OVERFLOW and DEBUG (booleans), STACK_SIZE (bytes).
function(_aivops_architecture_flags out architecture)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "AUTO_SYNC;RECORD_OVERFLOW;DEBUG;STACK_SIZE" "")

    math(EXPR stack_size "${arg_STACK_SIZE}" OUTPUT_FORMAT HEXADECIMAL)
    set(optimisation_ON -O0 -g)
    set(optimisation_OFF -O2)
    set(auto_sync_ON --cce-auto-sync)
    set(record_overflow_ON true)
    set(record_overflow_OFF false)

    # Scalar stores are not followed by automatic cache maintenance: these kernels do their own.
    set(flags_dav-c220-vec
        -mllvm
        -cce-aicore-dcci-insert-for-scalar=false
        -DASCENDC_DUMP=0
        -DTILING_KEY_VAR=0
        -DONE_CORE_DUMP_SIZE=1024
    )
    set(flags_dav-c310-vec -D__DAV_C310__)

    set(${out}
        ${optimisation_${arg_DEBUG}}
        --cce-aicore-arch=${architecture}
        --cce-aicore-only
        -mllvm
        -cce-aicore-stack-size=${stack_size}
        -mllvm
        -cce-aicore-function-stack-size=${stack_size}
        -mllvm
        -cce-aicore-record-overflow=${record_overflow_${arg_RECORD_OVERFLOW}}
        -mllvm
        -cce-aicore-addr-transform
        -mllvm
        -cce-aicore-jump-expand=true
        -std=c++17
        -fstack-protector-all
        ${flags_${architecture}}
        ${auto_sync_${arg_AUTO_SYNC}}
        PARENT_SCOPE
    )
endfunction()
