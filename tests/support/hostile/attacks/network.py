"""Attacks over the network: they reach for the trial's listeners on the loopback interface."""

from __future__ import annotations

from tests.support.hostile.attack import Attack, at_move, reached

NAMESPACE = "namespace of the network"
NETWORK = (NAMESPACE, "system call filter")

ATTACKS = [
    Attack("calls a service of the machine", at_move("network.call_tcp"), reached("tcp"), NETWORK),
    Attack("sends to a service of the machine", at_move("network.call_udp"), reached("udp"), NETWORK),
    Attack(
        "calls a socket without a file", at_move("network.call_abstract"), reached("abstract"), (NAMESPACE,)
    ),
    Attack(
        "calls a socket that is a file", at_move("network.call_path"), reached("path"), ("folders not shown",)
    ),
    Attack("accepts a connection from outside", at_move("network.open_a_door"), reached("door"), NETWORK),
]
