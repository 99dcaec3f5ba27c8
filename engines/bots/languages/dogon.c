/* Dogon in C: both ladders, with rules and a small alpha-beta search of its own.
 *
 * To build it, and to make a bundle of it for a site:
 *
 *     cc -O2 -static -o dogon dogon.c
 *     cat > bot.toml <<'END'
 *     [bot]
 *     name = "Dogon in C"
 *     version = "1"
 *     command = ["dogon"]
 *     games = ["dogon-kulei", "dogon-gagara"]
 *     END
 *     zip dogon.zip bot.toml dogon
 *
 * (-static, so that it runs on systems with other libraries.) engines/PROTOCOL.md describes
 * the protocol, the docstring of engines/rules/dogon.py the rules. Two additional commands help
 * to check the rules: "perft N" counts the sequences of N moves from the present position, and
 * "fen" prints it.
 *
 * Sections: the board, its moves, the search, the protocol.
 */

#define _POSIX_C_SOURCE 200809L

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WHITE, BLACK };
enum { FORTH, BACK, NO_RUN }; /* '+', '-' */
enum { MAX_HOLES = 16, MAX_MOVES = 2 * MAX_HOLES, PASS = -1, MAX_TURNS = 2, PRICE = 2 };
enum { MAX_DEPTH = 60, WIN = 1000000, INFINITE = 2 * WIN, A_SEED = 100, AT_HOME = 10 };
enum { LONGEST_LINE = 1 << 16, NODES_A_CHECK = 1 << 10 };

/* ---- the board */

typedef struct {
    const char *code;
    int width, seeds;
} Ladder;

static const Ladder ladders[] = {{"dogon-kulei", 6, 4}, {"dogon-gagara", 8, 6}};
static const Ladder *ladder = ladders;

/* Holes are numbered anticlockwise from a1: White's row left to right, Black's right to left. */
typedef struct {
    int hole[MAX_HOLES];
    int store[2];
    int side;
    bool passed;    /* whether the move immediately before was a pass */
    int run, turns; /* the direction of the player who sowed last, and how often he changed it */
    int ply;
} Position;

typedef struct {
    int hole; /* or PASS */
    int direction;
} Move;

static Position initial(void)
{
    Position p = {.run = NO_RUN};
    for (int hole = 0; hole < 2 * ladder->width; hole++)
        p.hole[hole] = ladder->seeds;
    return p;
}

static int owner(int hole)
{
    return hole / ladder->width;
}

static int next(int hole, int direction)
{
    int holes = 2 * ladder->width;
    return (hole + (direction == FORTH ? 1 : holes - 1)) % holes;
}

static int at_home(const Position *p, int side)
{
    int seeds = 0;
    for (int k = 0; k < ladder->width; k++)
        seeds += p->hole[side * ladder->width + k];
    return seeds;
}

/* "4,4,4,4,4,4/4,4,4,4,4,4 w 0 0 - - 0"; false if it cannot be read. */
static bool parse_position(const char *text, Position *p)
{
    int width = ladder->width, used;
    *p = (Position){.run = NO_RUN};
    for (int k = 0; k < 2 * width; k++) {
        int hole = k < width ? 2 * width - 1 - k : k - width;
        if (sscanf(text, "%d%n", &p->hole[hole], &used) != 1)
            return false;
        text += used + 1;
    }
    char side, passed, run[3];
    if (sscanf(text, "%c %d %d %c %2s %d", &side, &p->store[WHITE], &p->store[BLACK], &passed, run, &p->ply) != 6)
        return false;
    p->side = side == 'b';
    p->passed = passed == 'p';
    if (run[1]) {
        p->run = run[0] == '+' ? FORTH : BACK;
        p->turns = run[1] - '0';
    }
    return true;
}

static void print_position(const Position *p)
{
    int width = ladder->width;
    for (int k = 0; k < 2 * width; k++)
        printf("%d%c", p->hole[k < width ? 2 * width - 1 - k : k - width], k == width - 1 ? '/' : k == 2 * width - 1 ? ' ' : ',');
    printf("%c %d %d %c ", "wb"[p->side], p->store[WHITE], p->store[BLACK], p->passed ? 'p' : '-');
    if (p->run == NO_RUN)
        printf("- %d\n", p->ply);
    else
        printf("%c%d %d\n", "+-"[p->run], p->turns, p->ply);
}

/* ---- the moves */

static const char *token(Move move)
{
    static char text[4];
    int width = ladder->width, hole = move.hole;
    if (hole == PASS)
        return "pass";
    text[0] = (char)('a' + (hole < width ? hole : 2 * width - 1 - hole));
    text[1] = hole < width ? '1' : '2';
    text[2] = "+-"[move.direction];
    return text;
}

/* The number of seeds that reach the other row. */
static int reach(int hole, int direction)
{
    int place = hole % ladder->width;
    return direction == FORTH ? ladder->width - place : place + 1;
}

static bool may_sow(const Position *p, int hole, int direction)
{
    int seeds = p->hole[hole];
    if (seeds >= reach(hole, direction)) {
        int there = p->hole[next(hole, direction)];
        return seeds > 1 || there == 1 || there == 2; /* a single seed has to capture */
    }
    if (seeds < 2 || !p->passed)
        return false;
    return p->run == NO_RUN || p->run == direction || p->turns < MAX_TURNS;
}

static int find_sowings(const Position *p, Move *moves)
{
    int count = 0;
    for (int k = 0; k < ladder->width; k++)
        for (int direction = FORTH; direction <= BACK; direction++) {
            int hole = p->side * ladder->width + k;
            if (may_sow(p, hole, direction))
                moves[count++] = (Move){hole, direction};
        }
    return count;
}

/* Whether the other side could sow if this one passed; this one has no sowing. */
static bool other_could_sow(const Position *p)
{
    Move moves[MAX_MOVES];
    Position after = *p;
    after.side = !p->side;
    after.passed = true;
    return find_sowings(&after, moves) > 0;
}

/* The legal moves; none means that the game is over. */
static int find_moves(const Position *p, Move *moves)
{
    int count = find_sowings(p, moves);
    if (!count && p->store[p->side] >= PRICE && other_could_sow(p))
        moves[count++] = (Move){PASS, FORTH};
    return count;
}

static void pass(Position *p)
{
    p->store[p->side] -= PRICE;
    p->store[!p->side] += PRICE;
}

static void sow(Position *p, Move move)
{
    int last = move.hole, seeds = p->hole[move.hole];
    bool reaches = seeds >= reach(move.hole, move.direction);
    p->hole[move.hole] = 0;
    for (; seeds; seeds--) {
        last = next(last, move.direction);
        if (last == move.hole)
            last = next(last, move.direction);
        p->hole[last]++;
    }
    while (owner(last) != p->side && (p->hole[last] == 2 || p->hole[last] == 3)) {
        p->store[p->side] += p->hole[last];
        p->hole[last] = 0;
        last = next(last, !move.direction);
    }
    if (reaches || p->run == NO_RUN)
        p->turns = 0;
    else
        p->turns += p->run != move.direction;
    p->run = reaches ? NO_RUN : move.direction;
}

static Position play(const Position *before, Move move)
{
    Position p = *before;
    if (move.hole == PASS)
        pass(&p);
    else
        sow(&p, move);
    p.passed = move.hole == PASS;
    p.side = !p.side;
    p.ply++;
    return p;
}

static long long perft(const Position *p, int depth)
{
    if (depth == 0)
        return 1;
    Move moves[MAX_MOVES];
    int count = find_moves(p, moves);
    long long sum = 0;
    for (int k = 0; k < count; k++) {
        Position after = play(p, moves[k]);
        sum += perft(&after, depth - 1);
    }
    return sum;
}

/* ---- the search */

static struct {
    long long nodes, most_nodes;
    long long deadline_ms; /* 0 is none */
    long long started_ms;
    bool stopped;
} search;

static void listen_while_searching(void);

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Counts a node; false if the time is up or the search was stopped. */
static bool visit(void)
{
    if (search.nodes >= search.most_nodes)
        search.stopped = true;
    else if (++search.nodes % NODES_A_CHECK == 0) {
        listen_while_searching();
        if (search.deadline_ms && now_ms() >= search.deadline_ms)
            search.stopped = true;
    }
    return !search.stopped;
}

/* The score of a finished game for the side to move. */
static int final_worth(const Position *p, int distance)
{
    int mine = p->store[p->side], theirs = p->store[!p->side];
    int home = at_home(p, p->side), away = at_home(p, !p->side);
    if (other_could_sow(p)) { /* and this side cannot pay for its pass */
        theirs += home + away;
    } else {
        mine += home;
        theirs += away;
    }
    return mine > theirs ? WIN - distance : mine < theirs ? distance - WIN : 0;
}

static int evaluate(const Position *p)
{
    int stores = p->store[p->side] - p->store[!p->side];
    return A_SEED * stores + AT_HOME * (at_home(p, p->side) - at_home(p, !p->side));
}

static int alpha_beta(const Position *p, int depth, int alpha, int beta, int distance)
{
    if (!visit())
        return 0;
    Move moves[MAX_MOVES];
    int count = find_moves(p, moves);
    if (!count)
        return final_worth(p, distance);
    if (depth == 0)
        return evaluate(p);
    for (int k = 0; k < count && alpha < beta; k++) {
        Position after = play(p, moves[k]);
        int worth = -alpha_beta(&after, depth - 1, -beta, -alpha, distance + 1);
        if (search.stopped)
            return 0;
        if (worth > alpha)
            alpha = worth;
    }
    return alpha;
}

static void report(int depth, int worth, Move best)
{
    int plies = WIN - abs(worth);
    long long ms = now_ms() - search.started_ms;
    printf("info depth %d score ", depth);
    if (plies <= MAX_DEPTH)
        printf("mate %d", worth > 0 ? plies : -plies);
    else
        printf("cp %d", worth);
    printf(" time %lld nodes %lld pv %s\n", ms, search.nodes, token(best));
}

/* Searches one ply deep, then two, and so on; tries the best move so far first. */
static Move choose(const Position *p, Move *moves, int count, int most_depth)
{
    for (int depth = 1; depth <= most_depth && depth <= MAX_DEPTH; depth++) {
        int alpha = -INFINITE, found = 0;
        for (int k = 0; k < count; k++) {
            Position after = play(p, moves[k]);
            int worth = -alpha_beta(&after, depth - 1, -INFINITE, -alpha, 1);
            if (search.stopped)
                return moves[0];
            if (worth > alpha) {
                alpha = worth;
                found = k;
            }
        }
        Move best = moves[found];
        memmove(moves + 1, moves, (size_t)found * sizeof *moves);
        moves[0] = best;
        report(depth, alpha, moves[0]);
        if (WIN - abs(alpha) <= depth || count == 1)
            break;
    }
    return moves[0];
}

/* ---- the protocol */

static char input[LONGEST_LINE];
static size_t filled;
static bool input_ended;

static void read_more(void)
{
    ssize_t got = filled < sizeof input ? read(STDIN_FILENO, input + filled, sizeof input - filled) : 0;
    if (got > 0)
        filled += (size_t)got;
    else
        input_ended = true;
}

/* Takes a complete line out of the input; false if there is none. */
static bool take_line(char *line)
{
    char *end = memchr(input, '\n', filled);
    if (!end)
        return false;
    size_t length = (size_t)(end - input);
    memcpy(line, input, length);
    line[length] = 0;
    line[strcspn(line, "\r")] = 0;
    filled -= length + 1;
    memmove(input, end + 1, filled);
    return true;
}

/* Whether the next line is this word. */
static bool is_next(const char *word)
{
    size_t length = strlen(word);
    return filled > length && !memcmp(input, word, length) && (input[length] == '\n' || input[length] == '\r');
}

/* Handles the commands that may come during a search; others wait for its end. */
static void listen_while_searching(void)
{
    static char line[LONGEST_LINE];
    struct pollfd ready = {.fd = STDIN_FILENO, .events = POLLIN};
    while (!input_ended && filled < sizeof input && poll(&ready, 1, 0) > 0)
        read_more();
    if (input_ended || is_next("quit"))
        search.stopped = true;
    while (is_next("isready") || is_next("stop")) {
        take_line(line);
        if (line[0] == 's')
            search.stopped = true;
        else
            puts("readyok");
    }
}

static void introduce(void)
{
    puts("id name Dogon in C\nid author Duarena");
    puts("option name UGI_Variant type combo default dogon-kulei var dogon-kulei var dogon-gagara");
    puts("ugiok");
}

static bool play_token(Position *p, const char *word)
{
    Move moves[MAX_MOVES];
    int count = find_moves(p, moves);
    for (int k = 0; k < count; k++)
        if (!strcmp(word, token(moves[k]))) {
            *p = play(p, moves[k]);
            return true;
        }
    return false;
}

/* "position startpos moves c1+ f2-", "position fen … moves …" */
static void set_position(Position *p, char *line)
{
    char *moves = strstr(line, " moves");
    char *fen = strstr(line, "fen ");
    if (moves)
        *moves = 0;
    if (!fen)
        *p = initial();
    else if (!parse_position(fen + 4, p))
        printf("info string cannot read the position %s\n", fen + 4);
    if (!moves)
        return;
    for (char *word = strtok(moves + 6, " "); word; word = strtok(NULL, " "))
        if (!play_token(p, word)) {
            printf("info string illegal move %s\n", word);
            return;
        }
}

/* The number after a word of "go", or the default. */
static long long limit(const char *line, const char *name, long long none)
{
    const char *found = strstr(line, name);
    return found ? atoll(found + strlen(name)) : none;
}

/* The time for a move: a part of the clock, at most the move time. */
static long long budget_ms(const char *line, int side)
{
    long long none = -1;
    long long move = limit(line, "movetime ", none);
    long long left = limit(line, side == WHITE ? "p1time " : "p2time ", none);
    long long increment = limit(line, side == WHITE ? "p1inc " : "p2inc ", 0);
    long long budget = none;
    if (left >= 0) {
        budget = left / 25 + increment * 3 / 4;
        if (budget > left * 4 / 5)
            budget = left * 4 / 5;
    }
    if (move >= 0 && (budget < 0 || move * 9 / 10 < budget))
        budget = move * 9 / 10;
    return budget;
}

static void go(const Position *p, const char *line)
{
    Move moves[MAX_MOVES];
    int count = find_moves(p, moves);
    if (!count) {
        puts("bestmove none");
        return;
    }
    search.nodes = 0;
    search.stopped = false;
    search.started_ms = now_ms();
    long long budget = budget_ms(line, p->side);
    search.deadline_ms = budget < 0 ? 0 : search.started_ms + budget;
    search.most_nodes = limit(line, "nodes ", 1LL << 60);
    int depth = (int)limit(line, "depth ", MAX_DEPTH);
    printf("bestmove %s\n", token(choose(p, moves, count, depth)));
}

static void set_option(const char *line)
{
    const char *value = strstr(line, "value ");
    if (strstr(line, "UGI_Variant") && value)
        for (size_t k = 0; k < sizeof ladders / sizeof *ladders; k++)
            if (!strcmp(value + 6, ladders[k].code))
                ladder = &ladders[k];
}

static bool begins(const char *line, const char *word)
{
    size_t length = strlen(word);
    return !strncmp(line, word, length) && (line[length] == 0 || line[length] == ' ');
}

static void answer(char *line, Position *p)
{
    if (begins(line, "ugi"))
        introduce();
    else if (begins(line, "isready"))
        puts("readyok");
    else if (begins(line, "setoption")) {
        set_option(line);
        *p = initial();
    } else if (begins(line, "position"))
        set_position(p, line);
    else if (begins(line, "go"))
        go(p, line);
    else if (begins(line, "perft"))
        printf("%lld\n", perft(p, atoi(line + 5)));
    else if (begins(line, "fen"))
        print_position(p);
}

int main(void)
{
    static char line[LONGEST_LINE];
    setvbuf(stdout, NULL, _IOLBF, 1 << 12); /* flush every line, also into a pipe */
    Position p = initial();
    do {
        while (take_line(line)) {
            if (begins(line, "quit"))
                return 0;
            answer(line, &p);
        }
        read_more();
    } while (!input_ended);
    return 0;
}
