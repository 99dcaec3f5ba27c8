"""Hostile engines: what they try, how it is judged from outside, and which protection stops each.

programs    what they do, run as engines inside the sandbox; each with a fuse
table       every attack as data
openings    protections removed, one by one
scene       what a trial lays out for engines to find, and what it sees of them
trial       a program: a worker that plays one game with a hostile engine, and tells what came of it
server      a process from which such workers are forked
outer       the outer sandbox around a worker whose own sandbox lacks a protection
"""
