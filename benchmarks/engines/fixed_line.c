/*
 * An engine that plays a fixed line and answers at once.
 *
 *     fixed_line FILE [INFOS [THINK_MS [PAUSE_MS]]]
 *
 * FILE contains the moves of the line, one a word. The answer is the next move of the line after
 * those of `position`, with INFOS lines of `info` before it. If there are several lines, each begun
 * by the word `line`, the seed of the game selects one.
 *
 * With THINK_MS it uses the processor for up to that many milliseconds a move, and reports as
 * `info nodes` its own time in nanoseconds, from reading `go` to the answer. With PAUSE_MS it waits
 * for about that long instead, and reports the system's monotonic clock at the answer.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINES = 4096, MAX_MOVES = 1 << 18, MAX_TOKEN = 40, PV = 4, ROOM = 1 << 16 };

static char moves[MAX_MOVES][MAX_TOKEN + 1];
static int move_count;
static int starts[MAX_LINES + 1];
static int line_count;
static int chosen;
static int played;
static int info_count;
static long think_ms;
static long pause_ms;
static long long read_ns;

static char out[ROOM];
static size_t out_size;

static long long now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void say(const char *text)
{
    size_t size = strlen(text);
    if (out_size + size <= ROOM) {
        memcpy(out + out_size, text, size);
        out_size += size;
    }
}

static void flush(void)
{
    for (size_t done = 0; done < out_size;) {
        ssize_t written = write(1, out + done, out_size - done);
        if (written <= 0)
            exit(1);
        done += (size_t)written;
    }
    out_size = 0;
}

static void think(void)
{
    char line[64];
    long long until = read_ns + 1000000LL * (1 + played * 7L % think_ms);
    while (now_ns() < until)
        ;
    snprintf(line, sizeof line, "info nodes %lld\n", now_ns() - read_ns);
    say(line);
}

/* Waits for 0.6 to 1.4 times PAUSE_MS. */
static void wait_and_tell(void)
{
    char line[64];
    long long ns = pause_ms * (600000LL + 100000LL * (played * 7L % 9));
    struct timespec left = {ns / 1000000000LL, ns % 1000000000LL};
    while (nanosleep(&left, &left) != 0)
        ;
    snprintf(line, sizeof line, "info nodes %lld\n", now_ns());
    say(line);
}

static void say_number(long number)
{
    char digits[24];
    char *at = digits + sizeof digits - 1;
    *at = '\0';
    unsigned long left = number < 0 ? -(unsigned long)number : (unsigned long)number;
    do
        *--at = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (number < 0)
        *--at = '-';
    say(at);
}

/* A line of `info` as a search sends it: each has other values, and the moves that follow as its pv. */
static void say_info(int number)
{
    int next = starts[chosen] + played;
    say("info depth ");
    say_number(number + 1);
    say(" score cp ");
    say_number((played * 37L + number * 11L) % 400 - 200);
    say(" nodes ");
    say_number(1000L * (number + 1) * (number + 1) + played);
    say(" nps 1000000 time ");
    say_number(10L * number + played % 10);
    say(" pv");
    for (int move = next; move < next + PV && move < starts[chosen + 1]; move++) {
        say(" ");
        say(moves[move]);
    }
    say("\n");
}

static void answer(void)
{
    for (int number = 0; number < info_count; number++)
        say_info(number);
    if (pause_ms > 0)
        wait_and_tell();
    else if (think_ms > 0)
        think();
    say("bestmove ");
    int next = starts[chosen] + played;
    say(next < starts[chosen + 1] ? moves[next] : "resign");
    say("\n");
}

static void count_moves(const char *line)
{
    const char *at = strstr(line, " moves ");
    played = 0;
    for (at = at ? at + strlen(" moves") : NULL; at != NULL; at = strchr(at + 1, ' '))
        played++;
}

static void hear(const char *line)
{
    if (strncmp(line, "position", 8) == 0)
        count_moves(line);
    else if (strncmp(line, "go", 2) == 0)
        answer();
    else if (strcmp(line, "isready") == 0)
        say("readyok\n");
    else if (strcmp(line, "ugi") == 0) {
        say("id name Fixed line\nid author Duarena\n");
        if (line_count > 1)
            say("option name UGI_Seed type spin default 0 min 0 max 2147483647\n");
        say("ugiok\n");
    } else if (strncmp(line, "setoption name UGI_Seed value ", 30) == 0)
        chosen = (int)(atol(line + 30) % line_count);
    else if (strcmp(line, "quit") == 0)
        exit(0);
}

static void read_moves(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    while (move_count < MAX_MOVES && fscanf(file, "%40s", moves[move_count]) == 1) {
        if (strcmp(moves[move_count], "line") != 0)
            move_count++;
        else if (move_count > starts[line_count] && line_count < MAX_LINES - 1)
            starts[++line_count] = move_count;
    }
    starts[++line_count] = move_count;
    fclose(file);
}

int main(int argc, char **argv)
{
    static char in[ROOM];
    size_t held = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: fixed_line FILE [INFOS [THINK_MS [PAUSE_MS]]]\n");
        return 2;
    }
    read_moves(argv[1]);
    info_count = argc > 2 ? atoi(argv[2]) : 0;
    think_ms = argc > 3 ? atol(argv[3]) : 0;
    pause_ms = argc > 4 ? atol(argv[4]) : 0;
    for (;;) {
        ssize_t got = read(0, in + held, ROOM - held);
        if (got <= 0)
            return 0;
        read_ns = now_ns();
        held += (size_t)got;
        char *line = in;
        for (char *end; (end = memchr(line, '\n', held - (size_t)(line - in))) != NULL; line = end + 1) {
            *end = '\0';
            hear(line);
        }
        held -= (size_t)(line - in);
        memmove(in, line, held);
        flush();
    }
}
