"""Hostile engines: what they try, how success is detected from outside, and which protection stops each.

programs     the code of the attacks, run by engines inside the sandbox, each with a limit on its effects
attack       the description of one attack as data
attacks      all attacks, by subject
removals     functions that remove one protection of the sandbox each
scene        secrets and listeners that a trial sets up for the engines to find
observation  what a trial saw of an attack
trial        a program: a worker that plays one game with a hostile engine and prints what it observed
server       a process from which such workers are forked
outer        the outer sandbox around a worker whose own sandbox lacks a protection
"""
