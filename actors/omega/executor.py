"""A node's side where schedulers know what is free there: it does what it is told, at once."""

from callboard.actors.vocabulary import messages as msg
from callboard.actors.worker.direct_dialogue import DirectDialogue


class Executor(DirectDialogue):
    """Starts and stops attempts."""

    __slots__ = ()

    def on_launch_task(self, launch: msg.LaunchTask) -> None:
        self._node.launch(launch)

    def on_kill_task(self, kill: msg.KillTask) -> None:
        self._node.kill(kill)
