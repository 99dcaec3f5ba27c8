"""Positions in which the less usual rules matter, for each ladder: what random play seldom reaches.

For tests of engines: an engine with a wrong rule plays an illegal move there, or a few moves later. Some
continue with ``moves``, as in the ``position`` line of the protocol: an engine with a wrong rule refuses one
of the moves, or has no legal move after them.
"""

from __future__ import annotations

HARD_POSITIONS: dict[str, tuple[str, ...]] = {
    "duovallis": (
        # A capture that completes three stones for an exchange.
        "5b,2b,2b,2w5b,1w2b,1w2b/3w6b,1w,10w1b,0,8w3b,0/0,0,1w1b,1b,3w3b,3w3b/1b,1w2b,0,1b,4w,0 b 0 2 9",
        "0,2w,8b,1b,3b,3w3b/8w10b,3w1b,1w,1b,1b,1w2b/1w,1b,0,1w4b,0,0/0,2w5b,0,1b,1w,1w b 1 2 19",
        # No hole of the back row can be chosen.
        "1b,2w1b,0,1b,3b,3w3b/8w11b,3w1b,1w,1b,1b,1w2b/1w1b,2b,1b,1w5b,2b,0/0,2w5b,0,1b,0,1w w 1 0 20",
        "1b,0,0,1w,0,1b/1w2b,1w,6w3b,1w,2w,2w1b/1w,2w8b,1w1b,2b,9b,0/0,2w1b,1w,2w1b,3w1b,5w b 1 1 17",
        # A single move; and a sowing that never ends beside others.
        "1w1b,2w,8b,1b,0,3w2b/6w10b,2w1b,0,0,1w2b,0/1b,0,1w4b,4b,0,3w2b/1b,2w4b,1b,2w,1w,1w w 0 1 16",
        "2b,0,0,0,0,0/1w,0,1w,0,1b,0/0,0,0,0,0,1w/1b,2w,0,1b,0,1w1b w 0 0 0",
        # Sowings of 109 laps, the only move, and of 341.
        "1b,2w1b,0,4b,1b,0/2b,0,0,1w,0,1b/3b,2b,3b,0,1b,1w1b/0,1w,1w,0,1w,0 b 0 0 21",
        "0,1b,0,3b,0,0/3w,1w1b,1w,0,3w,2w/0,1b,0,0,2b,2w1b/2w1b,4w,4w,1w,0,1w w 0 0 20 moves b1",
    ),
    "dualma": (
        # The last placements.
        "1,b,1,b,1/1,w,1,w,2/7/1,w,5,w/w,2,w,3,b,1/4,b,1,w,b/1,b,4,w/2,b,2,b/2,w,b,1 w 9",
        "1,b,2,w/5,w/b,3,b,2/2,w,4,b/6,b,1,b/2,w,2,w,1,b/2,w,4/w,b,3,w/2,b,w,1 w 9",
        # Bounces.
        "1,b,1,b,1/1,w,1,w,2/1,b,5/1,w,5,w/w,6,b,1/3,w,b,1,w,b/1,b,4,w/b,w,3,b/w,1,wb,b,1 b 14",
        "1,b,1,b,1/1,w,1,w,2/1,b,5/1,w,5,w/7,b,1/w,2,w,b,1,w,b/1,b,4,w/b,w,3,b/w,1,wb,1,b b 16",
        "1,b,1,b,1/1,w,1,w,2/1,b,5/1,w,5,w/4,b,2,b,1/w,2,w,2,w,b/1,b,w,3,w/b,4,b/w,1,wb,1,b b 18",
        # A forced pass.
        "5/6/7/8/wb,1,wb,1,wb,1,wb,2/8/wb,1,wb,1,wb,1,wb/6/wb,1,wb,1,wb w 21",
    ),
    "dogon-kulei": (
        # Long captures, and sowings of more than a lap.
        "0,0,2,1,1,1/0,0,4,4,9,4 w 19 3 p - 28",
        "2,2,0,2,2,1/0,1,1,5,0,6 w 23 3 - - 32",
        "0,2,5,6,0,2/0,2,2,1,1,1 b 8 18 - - 19",
        "1,1,0,0,1,3/4,4,0,0,4,12 w 11 7 - - 16",
        # Single seeds that capture.
        "2,1,3,9,9,0/1,8,1,2,1,9 w 0 2 - - 8",
        "1,0,4,10,1,2/1,0,3,4,3,11 b 6 2 - - 11",
        # A forced pass, and the move after one.
        "0,0,2,1,1,0/0,5,3,3,8,3 b 15 7 - - 25",
        "0,1,0,0,0,3/1,0,0,0,1,1 w 16 25 - - 0",
        "0,0,2,1,1,0/0,5,3,3,8,3 w 17 5 p - 26",
        "0,0,2,1,1,0/0,0,0,5,10,5 w 23 1 p - 30",
        # The direction may no longer be changed.
        "0,2,1,0,2,0/0,0,0,1,0,0 b 8 34 p +2 59",
        "0,0,0,0,0,0/0,1,0,2,2,0 w 30 13 p -2 44",
        "1,1,0,2,0,0/0,1,0,0,0,1 b 11 31 p +2 51",
        "0,1,0,2,0,0/0,5,1,2,0,1 w 35 1 p +0 40",
        # Which sowings change the direction of a run, and which end it.
        "0,1,0,0,0,0/1,1,2,0,1,1 w 20 21 p +1 20 moves c1+ pass e1-",
        "1,0,0,0,3,0/2,0,0,1,0,0 b 1 40 p +2 21 moves e2-",
        "1,0,2,0,0,2/2,0,0,0,1,0 b 37 3 - -2 21 moves a2+ pass f2+",
        "0,0,0,0,0,0/1,3,2,0,0,2 b 20 20 p +2 21 moves pass f1+ pass c1-",
        "2,0,1,1,0,2/1,1,0,2,0,0 b 19 19 p - 21 moves a2- pass f2+ pass c2-",
        # A pass that can be paid only with what an earlier one brought.
        "0,1,5,1,0,0/0,0,0,2,0,1 w 38 0 - - 20 moves pass c2- f1+",
        # A forced pass after captures.
        "0,3,0,2,2,3/0,1,0,0,2,1 b 0 34 - +0 21 moves b2+ e1+ e2- a1- f2-",
        "0,0,0,3,5,0/0,3,1,0,0,0 b 0 36 - -2 21 moves d2- f1+ e2+ b1-",
    ),
    "dogon-gagara": (
        # Long captures, and sowings of more than a lap.
        "2,0,8,0,2,1,0,10/7,3,2,9,0,2,2,2 b 26 20 - - 87",
        "4,1,2,2,0,1,1,16/3,7,7,1,5,14,10,1 w 18 3 - - 38",
        "2,2,2,4,2,4,4,0/3,10,10,4,7,1,12,3 w 23 3 - - 42",
        "2,3,13,12,0,2,3,16/1,2,13,5,1,0,14,6 b 0 3 - - 17",
        # Single seeds that capture.
        "2,3,13,12,0,2,3,15/1,2,13,5,1,3,13,5 w 0 3 - - 16",
        "2,3,2,1,14,0,0,1/11,5,0,4,16,3,8,2 b 8 16 - - 45",
        # A forced pass, and the move after one.
        "0,3,4,2,1,11,0,1/0,1,1,1,1,0,0,0 w 29 41 - - 80",
        "0,0,1,3,2,0,0,1/0,0,0,0,2,1,0,0 b 33 53 - - 87",
        "0,3,4,2,1,11,0,1/0,1,1,1,1,0,0,0 b 27 43 p - 81",
        "2,8,3,2,31,0,6,6/0,1,1,0,2,0,1,0 b 11 22 p - 67",
        # The direction may no longer be changed.
        "0,3,0,1,5,1,1,6/0,1,0,1,1,0,0,1 b 28 47 p -2 89",
        "0,1,2,0,1,1,0,0/0,0,1,0,3,0,0,0 b 28 59 p -2 111",
        "0,3,4,0,4,0,0,6/0,1,0,1,1,0,0,1 b 30 45 p +1 87",
        # Which sowings change the direction of a run, and which end it.
        "0,0,1,2,0,1,1,2/0,0,0,0,1,0,1,0 b 43 44 p +1 21 moves d2+ pass c2-",
        "0,0,1,2,0,1,1,2/0,0,0,0,1,0,1,0 b 43 44 p +1 21 moves h2- pass d2+",
        "0,0,0,3,0,0,0,0/1,3,3,0,0,0,0,2 w 42 42 p -2 20 moves h1+",
        "1,1,1,0,0,3,0,0/1,0,0,1,0,1,0,0 b 43 44 - -2 21 moves a2+ pass f2+",
        "0,0,0,2,3,0,0,0/0,2,0,0,0,1,0,2 w 43 43 p - 20 moves h1- pass f1+ pass g1-",
        # A pass that can be paid only with what an earlier one brought.
        "0,1,0,0,2,0,0,2/1,2,2,0,0,1,0,1 b 1 83 p +2 21 moves h2- h1+ pass b1- a2+",
    ),
    "duploline": (
        # Moves of pieces, which must keep the group together.
        "4/5/6/7/r,d,4/R,d,r,2/D,R,2 w 4",
        "4/5/6/7/r,d,4/R,d,1,Dr,d/D,R,R,1 w 6",
        # Turns that may end after one action.
        "4/5/D,r,R,3/Dr,DR,dR,d,1,d,DR/D,d,dr,1,r,R/DR,dR,r,Dr,d/1,d,R,1 b 19",
        "4/d,4/D,r,R,3/Dr,DR,dR,d,1,d,DR/D,d,dr,2,R/DR,dR,r,Dr,dr/1,d,R,1 w 20",
        # Replaced actions, and a full board.
        "d,d,d,r/d,D,D,d,d/D,D,d,d,D,D/D,d,d,D,D,d,d/d,D,D,d,d,D/D,D,d,D,d/1,D,D,d w 36",
        "d,D,d,D/dr,Dr,DR,dR,DR/D,d,d,2,r/d,Dr,r,dr,DR,R,dR/DR,dR,D,Dr,r,1/Dr,dR,d,r,r/1,DR,r,R w 32",
        "d,r,D,dR/DR,dr,r,Dr,d/dr,R,R,d,Dr,1/D,DR,DR,dR,dr,2/DR,r,1,dR,R,r/dR,dr,D,2/2,Dr,d w 30",
    ),
}
"""Position strings, some with ``moves``, by the code of the ladder."""

WON_POSITIONS: dict[str, tuple[str, ...]] = {
    "duovallis": (
        "0,1b,0,0,0,2w/1b,0,0,2w,1w,5w4b/3w4b,0,0,0,1w,1b/2w,0,0,1b,0,4w6b w 2 0 42",
        "0,0,0,0,0,1b/0,3w2b,2w,1w5b,1w2b,3b/2w,0,0,0,1w,1w/2w,3w,0,2b,5w,6w w 2 2 42",
        "0,0,0,0,0,1b/2b,2w3b,0,1w4b,1w,2w1b/1w,0,0,1b,0,2b/3w3b,4w,0,0,0,1w w 2 0 62",
        "1b,1b,0,0,0,2b/7w5b,0,0,4w,1w,2w4b/0,3b,1b,0,1b,1b/0,1b,0,0,0,0 b 2 0 83",
        "0,0,2w,0,0,0/4w2b,1b,0,1w,1w2b,0/0,1b,6b,2w,0,2w/1w2b,0,0,0,1w,0 b 0 0 77",
        "0,0,0,1w,7b,2b/1b,0,1w,1w,0,1w/0,3w1b,0,2b,1b,6w10b/5w6b,0,0,0,0,0 b 1 1 35",
    ),
    "dualma": (
        "5/b,1,bw,bw,1,b/2,w,b,3/3,bw,2,wb,1/3,b,b,4/w,ww,5,bw/7/3,b,2/ww,4 w 129",
        "2,b,w,w/2,bb,2,b/3,b,bw,1,wb/3,w,w,w,2/4,ww,3,b/8/1,b,4,b/w,5/w,b,3 w 103",
        "2,b,2/w,5/1,w,b,ww,bw,2/2,b,5/2,wb,6/4,b,3/1,wb,4,bw/w,wb,1,b,1,w/b,4 w 351",
        "w,w,2,wb/b,b,4/w,5,w/w,4,b,2/5,ww,3/2,bb,3,b,ww/1,b,b,4/2,wb,3/b,4 b 72",
        "b,4/3,b,b,1/3,w,wb,wb,1/2,w,5/3,bw,5/w,w,2,w,b,1,bb/6,w/w,4,b/3,w,b b 138",
        "2,b,1,w/b,wb,3,w/1,w,2,ww,wb,1/1,bb,2,b,3/9/3,w,4/bb,6/w,2,bw,2/1,b,2,w b 68",
    ),
    "dogon-kulei": (
        "0,0,0,0,0,0/0,0,0,0,0,2 w 42 4 - - 42",
        "0,0,0,0,0,0/0,0,2,0,0,0 w 41 5 p - 52",
        "0,0,0,0,0,0/1,1,3,3,1,0 w 38 1 p - 36",
        "0,0,0,0,0,3/0,0,1,1,1,1 b 8 33 p - 49",
        "0,0,0,1,1,2/0,1,1,1,1,0 b 5 35 - - 47",
        "0,0,1,0,1,3/1,1,1,1,0,0 b 1 38 p - 43",
    ),
    "dogon-gagara": (
        "0,0,0,1,0,1,1,1/0,0,1,0,0,0,2,0 w 81 8 p - 92",
        "0,1,1,1,0,0,0,0/0,0,0,2,0,1,0,1 w 88 1 p - 92",
        "0,1,2,2,1,1,1,0/0,0,0,0,0,0,0,5 w 74 9 p - 68",
        "1,0,0,3,1,1,0,1/0,0,1,1,2,0,0,0 b 0 85 p - 73",
        "2,1,0,0,1,1,1,0/0,0,2,1,1,1,1,1 b 8 75 - - 57",
        "0,0,0,0,0,0,4,0/1,0,1,1,0,1,1,0 b 26 61 p - 69",
    ),
    "duploline": (
        "4/3,D,dR/5,R/4,r,Dr,d/3,r,D,D/3,d,1/3,R w 8",
        "4/5/6/1,R,R,R,3/1,r,r,D,r,1/1,D,d,d,D/2,dr,D w 8",
        "4/5/R,1,r,3/r,DR,R,4/dr,D,dr,3/1,D,D,2/dR,3 w 10",
        "2,D,r/3,D,1/2,r,r,dR,1/3,D,d,2/3,dR,2/5/4 b 7",
        "4/5/5,D/3,d,r,1,d/3,dR,d,D/1,R,R,DR,1/1,r,r,r b 9",
        "3,R/1,r,dR,d,DR/3,d,Dr,D/4,dr,D,r/3,R,D,1/5/4 b 11",
    ),
}
"""Positions that the mover can win at once, three for each side, by the code of the ladder."""
