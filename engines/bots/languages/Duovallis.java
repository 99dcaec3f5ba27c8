/* Duovallis in Java: rules and a small alpha-beta search of its own.
 *
 * To build it, and to make a bundle of it for a site:
 *
 *     javac --release 11 -d classes Duovallis.java
 *     cat > bot.toml <<'END'
 *     [bot]
 *     name = "Duovallis in Java"
 *     version = "1"
 *     command = ["java", "-Xmx128m", "-cp", "classes", "Duovallis"]
 *     games = ["duovallis"]
 *     END
 *     zip -r duovallis.zip bot.toml classes
 *
 * engines/PROTOCOL.md describes the protocol, the docstring of engines/rules/duovallis.py the rules. Two
 * additional commands help to check the rules: "perft N" counts the sequences of N moves from the present
 * position, and "fen" prints it.
 *
 * Sections: the board, its moves, the search, the protocol.
 */

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.LinkedBlockingDeque;

public final class Duovallis {
    static final int FILES = 6, HOLES = 4 * FILES, MOST_LAPS = 10_000, MAX_DEPTH = 60;
    static final int WARM_UP_NODES = 2000;
    static final int WIN = 1_000_000, NEARLY_WIN = WIN - 1000;
    static final String START =
        "4b,4b,4b,4b,4b,4b/0,4w,4w,4w,4w,0/0,4b,4b,4b,4b,0/4w,4w,4w,4w,4w,4w w 0 0 0";
    /** The holes on which White and Black sow, in their order. */
    static final int[][] PATHS = {
        holes("a1 b1 c1 d1 e1 f1 f2 f3 e3 d3 c3 b3 a3 a2"),
        holes("f4 e4 d4 c4 b4 a4 a3 a2 b2 c2 d2 e2 f2 f3"),
    };

    // ---- the board

    /** Holes count from a1 to f1, then a2, up to f4; stones are White's and Black's. */
    static final class Board {
        final int[][] stones = new int[2][HOLES];
        /** The number of the opponent's stones in front of each side. */
        final int[] kept = new int[2];
        int side, ply;

        Board copy() {
            Board copy = new Board();
            for (int colour = 0; colour < 2; colour++)
                System.arraycopy(stones[colour], 0, copy.stones[colour], 0, HOLES);
            copy.kept[0] = kept[0];
            copy.kept[1] = kept[1];
            copy.side = side;
            copy.ply = ply;
            return copy;
        }

        static Board parse(String[] fields) {
            Board board = new Board();
            String[] rows = fields[0].split("/");
            for (int row = 0; row < 4; row++) {
                String[] holes = rows[row].split(",");
                for (int file = 0; file < FILES; file++)
                    board.fill((3 - row) * FILES + file, holes[file]);
            }
            board.side = fields[1].equals("w") ? 0 : 1;
            board.kept[0] = Integer.parseInt(fields[2]);
            board.kept[1] = Integer.parseInt(fields[3]);
            board.ply = Integer.parseInt(fields[4]);
            return board;
        }

        private void fill(int hole, String text) {
            int number = 0;
            for (char letter : text.toCharArray()) {
                if (Character.isDigit(letter)) {
                    number = 10 * number + letter - '0';
                } else {
                    stones[letter == 'w' ? 0 : 1][hole] = number;
                    number = 0;
                }
            }
        }

        String text() {
            List<String> rows = new ArrayList<>();
            for (int rank = 3; rank >= 0; rank--) {
                List<String> holes = new ArrayList<>();
                for (int file = 0; file < FILES; file++)
                    holes.add(textOf(rank * FILES + file));
                rows.add(String.join(",", holes));
            }
            return String.join("/", rows) + (side == 0 ? " w " : " b ") + kept[0] + " " + kept[1] + " " + ply;
        }

        private String textOf(int hole) {
            int white = stones[0][hole], black = stones[1][hole];
            if (white + black == 0)
                return "0";
            return (white > 0 ? white + "w" : "") + (black > 0 ? black + "b" : "");
        }

        /** Capture if the last stone of the side to move fell into an empty hole of its own. */
        void capture(int hole) {
            int file = hole % FILES, other = 1 - side;
            if (owner(hole) != side || file == 0 || file == FILES - 1)
                return;
            int from = hole / FILES % 2 == 0 ? hole + FILES : hole - FILES; // across the valley
            int all = kept[side] + stones[other][from];
            stones[side][hole] += stones[side][from] + all / 3;
            kept[side] = all % 3;
            stones[0][from] = stones[1][from] = 0;
        }

        /** The stones of the side to move, less those of the other. */
        int value() {
            return 100 * (Arrays.stream(stones[side]).sum() - Arrays.stream(stones[1 - side]).sum());
        }
    }

    static int[] holes(String names) {
        return Arrays.stream(names.split(" ")).mapToInt(Duovallis::holeOf).toArray();
    }

    static int holeOf(String name) {
        return (name.charAt(1) - '1') * FILES + name.charAt(0) - 'a';
    }

    static String nameOf(int hole) {
        return "" + (char) ('a' + hole % FILES) + (hole / FILES + 1);
    }

    /** 0 or 1; 2 for the neutral holes at both ends of the front rows. */
    static int owner(int hole) {
        int rank = hole / FILES, file = hole % FILES;
        boolean isBack = rank == 0 || rank == 3;
        if (!isBack && (file == 0 || file == FILES - 1))
            return 2;
        return rank == 0 || rank == 2 ? 0 : 1;
    }

    // ---- its moves

    static final class Move {
        final int hole;
        final Board next;

        Move(int hole, Board next) {
            this.hole = hole;
            this.next = next;
        }
    }

    /** The position after a move from a hole; null if the sowing does not end. */
    static Board play(Board board, int hole) {
        int side = board.side, other = 1 - side, at = 0;
        int[] path = PATHS[side];
        while (path[at] != hole)
            at++;
        Board next = board.copy();
        for (int laps = 0; laps < MOST_LAPS; laps++) {
            int theirs = next.stones[other][path[at]], all = theirs + next.stones[side][path[at]];
            next.stones[0][path[at]] = next.stones[1][path[at]] = 0;
            boolean wasEmpty = false;
            for (int number = 0; number < all; number++) {
                at = (at + 1) % path.length;
                wasEmpty = next.stones[0][path[at]] + next.stones[1][path[at]] == 0;
                next.stones[number < theirs ? other : side][path[at]]++;
            }
            boolean goesOn = !wasEmpty && next.stones[side][path[at]] >= next.stones[other][path[at]];
            if (goesOn)
                continue;
            if (wasEmpty)
                next.capture(path[at]);
            next.side = other;
            next.ply++;
            return next;
        }
        return null;
    }

    /** All moves; only the front row has moves if the back row has none. */
    static List<Move> moves(Board board) {
        List<Move> back = new ArrayList<>(), front = new ArrayList<>();
        for (boolean isBack : new boolean[] {true, false}) {
            for (int hole = 0; hole < HOLES && back.isEmpty() | isBack; hole++) {
                int mine = board.stones[board.side][hole], theirs = board.stones[1 - board.side][hole];
                boolean isRow = (hole / FILES == 0 || hole / FILES == 3) == isBack;
                if (!isRow || owner(hole) != board.side || mine + theirs < 2 || mine < theirs)
                    continue;
                Board next = play(board, hole);
                if (next != null)
                    (isBack ? back : front).add(new Move(hole, next));
            }
        }
        return back.isEmpty() ? front : back;
    }

    static long perft(Board board, int depth) {
        if (depth == 0)
            return 1;
        long sum = 0;
        for (Move move : moves(board))
            sum += perft(move.next, depth - 1);
        return sum;
    }

    // ---- the search

    static final class Search {
        final Input input;
        final long endNs, mostNodes;
        final int mostDepth;
        long nodes;
        boolean isOver;

        Search(Input input, String[] words, int side) {
            this.input = input;
            long now = System.nanoTime();
            long left = number(words, side == 0 ? "p1time" : "p2time"), move = number(words, "movetime");
            long increment = Math.max(0, number(words, side == 0 ? "p1inc" : "p2inc"));
            long ms = left < 0 ? Long.MAX_VALUE : Math.min(left / 25 + increment / 2, left / 3);
            if (move >= 0)
                ms = Math.min(ms, Math.max(0, move - 10 - move / 10));
            endNs = ms == Long.MAX_VALUE ? Long.MAX_VALUE : now + ms * 1_000_000;
            long nodeLimit = number(words, "nodes"), depth = number(words, "depth");
            mostNodes = nodeLimit < 0 ? Long.MAX_VALUE : nodeLimit;
            mostDepth = depth < 0 ? Integer.MAX_VALUE : (int) Math.min(MAX_DEPTH, Math.max(1, depth));
        }

        /** Whether a limit is reached, or `stop` or `quit` has arrived. */
        private boolean mustEnd() {
            if (nodes >= mostNodes)
                isOver = true;
            else
                isOver |= endNs != Long.MAX_VALUE && System.nanoTime() - endNs >= 0 || input.hasStop();
            return isOver;
        }

        private int value(Board board, int depth, int ply, int alpha, int beta) {
            if (mustEnd())
                return 0;
            nodes++;
            List<Move> moves = moves(board);
            if (moves.isEmpty())
                return ply - WIN;
            if (depth == 0)
                return board.value() + 10 * moves.size();
            for (Move move : moves) {
                int value = -value(move.next, depth - 1, ply + 1, -beta, -alpha);
                if (isOver)
                    return 0;
                alpha = Math.max(alpha, value);
                if (alpha >= beta)
                    break;
            }
            return alpha;
        }

        /** The best move by iterative deepening, "none" if there is no move. */
        String run(Board board) {
            List<Move> moves = moves(board);
            if (moves.isEmpty())
                return "none";
            int best = moves.get(0).hole;
            long begunNs = System.nanoTime();
            for (int depth = 1; depth <= Math.min(mostDepth, MAX_DEPTH); depth++) {
                int alpha = -2 * WIN, found = best;
                for (Move move : moves) {
                    int value = -value(move.next, depth - 1, 1, -2 * WIN, -alpha);
                    if (isOver)
                        return nameOf(best);
                    if (value > alpha) {
                        alpha = value;
                        found = move.hole;
                    }
                }
                final int first = best = found;
                say("info depth " + depth + " score " + score(alpha) + " nodes " + nodes + " time "
                    + (System.nanoTime() - begunNs) / 1_000_000 + " pv " + nameOf(best));
                if (Math.abs(alpha) > NEARLY_WIN)
                    break;
                moves.sort((one, two) -> Boolean.compare(one.hole != first, two.hole != first));
            }
            boolean isEndless = endNs == Long.MAX_VALUE && mostNodes == Long.MAX_VALUE;
            if (isEndless && mostDepth == Integer.MAX_VALUE)
                input.waitForStop();
            return nameOf(best);
        }
    }

    static String score(int value) {
        if (Math.abs(value) < NEARLY_WIN)
            return "cp " + value;
        return "mate " + (value > 0 ? WIN - value : -WIN - value);
    }

    /** The number after a word of a `go` line; -1 if there is none. */
    static long number(String[] words, String name) {
        int at = Arrays.asList(words).indexOf(name);
        try {
            return at < 0 || at + 1 == words.length ? -1 : Math.max(0, Long.parseLong(words[at + 1]));
        } catch (NumberFormatException error) {
            return -1;
        }
    }

    // ---- the protocol

    /** The lines of standard input, read in a thread, so that a search sees `stop`; the end is a `quit`. */
    static final class Input {
        private final LinkedBlockingDeque<String> lines = new LinkedBlockingDeque<>();

        void start() {
            Thread reader = new Thread(this::read);
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            try (BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
                for (String line = in.readLine(); line != null; line = in.readLine())
                    lines.add(line.trim());
            } catch (IOException error) {
                System.err.println(error);
            }
            lines.add("quit");
        }

        String next() throws InterruptedException {
            return lines.take();
        }

        /** Whether `stop` or `quit` has arrived; answers `isready`, and keeps the other lines. */
        boolean hasStop() {
            while (lines.removeFirstOccurrence("isready"))
                say("readyok");
            return lines.removeFirstOccurrence("stop") || lines.contains("quit");
        }

        void waitForStop() {
            try {
                while (!hasStop())
                    Thread.sleep(5);
            } catch (InterruptedException error) {
                Thread.currentThread().interrupt();
            }
        }
    }

    static PrintStream out = System.out;

    static synchronized void say(String line) {
        out.println(line);
        out.flush();
    }

    /** A search that nobody sees, before the input is read: a new JVM loads and compiles what it runs for the
     *  first time, which would otherwise be on the clock of the first move. */
    static void warmUp(Input input) {
        out = new PrintStream(OutputStream.nullOutputStream());
        Board board = readPosition("position startpos moves a1".split(" "));
        new Search(input, ("go p1time 600000 p2time 600000 nodes " + WARM_UP_NODES).split(" "), board.side).run(board);
        out = System.out;
    }

    static Board readPosition(String[] words) {
        int end = Arrays.asList(words).indexOf("moves");
        boolean isText = words.length > 6 && words[1].equals("fen");
        Board board = Board.parse(isText ? Arrays.copyOfRange(words, 2, 7) : START.split(" "));
        for (int at = end < 0 ? words.length : end + 1; at < words.length; at++)
            board = play(board, holeOf(words[at]));
        return board;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Input input = new Input();
        warmUp(input);
        input.start();
        Board board = Board.parse(START.split(" "));
        while (true) {
            String[] words = input.next().split("\\s+");
            switch (words[0]) {
                case "ugi":
                    say("id name Duovallis in Java");
                    say("id author Duarena");
                    say("option name UGI_Variant type combo default duovallis var duovallis");
                    say("ugiok");
                    break;
                case "isready":
                    say("readyok");
                    break;
                case "position":
                    board = readPosition(words);
                    break;
                case "perft":
                    say("" + perft(board, Integer.parseInt(words[1])));
                    break;
                case "fen":
                    say(board.text());
                    break;
                case "go":
                    say("bestmove " + new Search(input, words, board.side).run(board));
                    break;
                case "quit":
                    return;
                default:
                    break;
            }
        }
    }
}
