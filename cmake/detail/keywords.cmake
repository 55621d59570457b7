# Words that are no keywords of a public function, and what they were probably meant to be.

# The keyword that `word` is a mistyped form of: in small letters, singular or plural, or with one letter wrong,
# missing, too many or exchanged with the next. Empty when there is none.
function(_aivops_find_keyword out word keywords)
    set(${out} "" PARENT_SCOPE)
    string(TOUPPER "${word}" upper)
    string(REGEX REPLACE "(S|IES|Y)$" "" stem "${upper}")
    foreach(keyword IN LISTS keywords)
        string(REGEX REPLACE "(S|IES|Y)$" "" keyword_stem "${keyword}")
        _aivops_count_different(different "${upper}" "${keyword}")
        if(stem STREQUAL keyword_stem OR different LESS_EQUAL 2)
            set(${out} "${keyword}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()

# How many letters lie between what two words begin with and what they end with, in the longer one.
function(_aivops_count_different out one other)
    string(LENGTH "${one}" length)
    string(LENGTH "${other}" other_length)
    if(length GREATER other_length)
        _aivops_count_different(different "${other}" "${one}")
        set(${out} ${different} PARENT_SCOPE)
        return()
    endif()
    _aivops_count_same(same_begin "${one}" 0 "${other}" 0 1 ${length})
    math(EXPR last "${length} - 1")
    math(EXPR other_last "${other_length} - 1")
    math(EXPR left "${length} - ${same_begin}")
    _aivops_count_same(same_end "${one}" ${last} "${other}" ${other_last} -1 ${left})
    math(EXPR different "${other_length} - ${same_begin} - ${same_end}")
    set(${out} ${different} PARENT_SCOPE)
endfunction()

# How many letters, `limit` at most, are the same in two words from these places on, in steps of 1 or -1.
function(
    _aivops_count_same
    out
    one
    at
    other
    other_at
    step
    limit
)
    set(same 0)
    while(same LESS limit)
        string(SUBSTRING "${one}" ${at} 1 letter)
        string(SUBSTRING "${other}" ${other_at} 1 other_letter)
        if(NOT letter STREQUAL other_letter)
            break()
        endif()
        math(EXPR same "${same} + 1")
        math(EXPR at "${at} + ${step}")
        math(EXPR other_at "${other_at} + ${step}")
    endwhile()
    set(${out} ${same} PARENT_SCOPE)
endfunction()

# "write SOURCES for SOURCE, DEBUG for debug": of the words that are mistyped keywords.
function(_aivops_describe_mistyped out words keywords)
    set(hints "")
    foreach(word IN LISTS words)
        _aivops_find_keyword(keyword "${word}" "${keywords}")
        if(NOT keyword STREQUAL "")
            list(APPEND hints "${keyword} for ${word}")
        endif()
    endforeach()
    list(REMOVE_DUPLICATES hints)
    list(JOIN hints ", " hints)
    if(NOT hints STREQUAL "")
        string(PREPEND hints "write ")
    endif()
    set(${out} "${hints}" PARENT_SCOPE)
endfunction()

# A mistyped keyword is a value of the keyword before it. What is written like one and is no file or target is an error.
function(_aivops_refuse_mistyped subject values keywords)
    list(FILTER values INCLUDE REGEX "^[A-Z]+(_[A-Z]+)*$")
    foreach(value IN LISTS values)
        _aivops_describe_mistyped(hints "${value}" "${keywords}")
        if(
            NOT hints STREQUAL ""
            AND NOT TARGET ${value}
            AND NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${value}"
        )
            message(FATAL_ERROR "${subject}: unknown argument: ${value}; ${hints}")
        endif()
    endforeach()
endfunction()
