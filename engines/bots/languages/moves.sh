#!/bin/sh
# All ladders in POSIX shell: `python3 -m engines` gives the legal moves, and one is drawn at random.
#
# It needs Python 3.11 or newer with `engines` on its path, as on a site.
# Every move starts Python twice: give it half a second. To make a bundle of it for a site:
#
#     cat > bot.toml <<'END'
#     [bot]
#     name = "Moves in shell"
#     version = "1"
#     command = ["sh", "moves.sh"]
#     games = ["duovallis", "dualma", "dogon-kulei", "dogon-gagara", "duploline"]
#     END
#     zip moves.zip bot.toml moves.sh
#
# If `python3` is older, name another one below `[options]`: Python = "/path/to/python3".
# engines/PROTOCOL.md describes the protocol.

set -f # a move is a word, never a pattern

python=python3
game=duovallis
seed=$$
fen=
moves=

# Runs a command with the game and the start position, if there is one.
engines() {
    command=$1
    shift
    "$python" -m engines "$command" "$game" ${fen:+--fen "$fen"} "$@"
}

introduce() {
    printf 'id name Moves in shell\nid author Duarena\n'
    printf 'option name UGI_Variant type combo default duovallis'
    printf ' var %s' duovallis dualma dogon-kulei dogon-gagara duploline
    printf '\noption name UGI_Seed type spin default 0 min 0 max 9223372036854775807\n'
    printf 'option name Python type string default python3\nugiok\n'
}

# setoption name NAME value VALUE
set_option() {
    case $3 in
    UGI_Variant) game=$5 ;;
    UGI_Seed) seed=$5 ;;
    Python) python=$5 ;;
    esac
}

# position startpos|fen WORD... [moves MOVE...]
set_position() {
    fen=
    shift
    while [ $# -gt 0 ] && [ "$1" != moves ]; do
        case $1 in
        startpos | fen) ;;
        *) fen="$fen${fen:+ }$1" ;;
        esac
        shift
    done
    [ $# -eq 0 ] || shift
    moves=$*
}

# One of the arguments; the same seed and position give the same one.
draw() {
    number=$(printf '%s %s' "$seed" "$now" | cksum)
    shift $((${number%% *} % $#))
    printf '%s\n' "$1"
}

# The position after the moves is the first line of `play`, the last line of `moves` the result.
choose() (
    now=$(engines play $moves | head -n 1)
    fen=$now
    legal=$(engines moves | sed '$d')
    if [ -z "$legal" ]; then
        echo none
    else
        draw $legal
    fi
)

while read -r word rest; do
    word=${word%"$(printf '\r')"}
    rest=${rest%"$(printf '\r')"}
    case $word in
    ugi) introduce ;;
    isready) echo readyok ;;
    setoption) set_option "$word" $rest ;;
    position) set_position "$word" $rest ;;
    go) echo "bestmove $(choose)" ;;
    quit) exit ;;
    esac
done
