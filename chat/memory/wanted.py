"""What a message asks for: its content words, and those of the turns before it where it has none of its own."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from chat.memory.words import UNSPACED

MOST = 24  # terms of one question
_BEFORE = 0.5  # what a word of the turns before weighs
_UNSPACED = re.compile(f"[{UNSPACED}]")
_RUN = re.compile(f"[{UNSPACED}]+|[^{UNSPACED}]+")

# Words that say nothing about what is asked for, of the languages that most people write.
_EMPTY = frozenset(
    """
    a about again all also am an and answer any anyone anything are as ask at be because been before being but by
    can cannot compare cool could describe did do does doing don done draw earlier else evening ever exactly example
    examples explain find for from get give go going good got great had haha has have having he hello help her here
    hers hey hi him his how i idea ideas if in into is isn it its just know let like list ll lol longer look made
    make many may maybe me mention mentioned might mind mine more morning most much must my need nice night no not
    now of off oh ok okay on once one only or other our out over own please question quite re really recall remember
    remind rewrite right said same say see she shorten shorter should show sing so some somebody someone something
    still summarise summarize summary sure tell than thank thanks that the their them then there these they thing
    things think this those though to today told too translate under up us use ve very want wanted was way we well
    were what when where which while who whom whose why will with won word words would write yes yet you your yours
    aber als am auch auf aus bei bin bis bist bitte da danke das dass dein deine dem den denn der des dich die dir
    doch du ein eine einem einen einer er es für gesagt hab habe haben hast hat hatte hier ich ihr im in ist ja kann
    kannst kein keine mal man mein meine meinem meinen meiner mich mir mit nach nein nicht noch nochmal nun nur oder
    ob schon sein seine sich sie sind so um und uns unser unsere vom von vor war waren warum was weiß weißt wem wen
    wenn wer wie wieder wir wird wo zu zum zur
    au aux avec ce ces cela ceci comme comment dans de des donc du elle elles en est et était être eu il ils j je l
    la le les leur lui ma mais me mes moi mon n ne nos notre nous on ou où par pas pour qu quand que quel quelle
    quels quelles qui quoi s sa se ses si son sont sur ta te tes toi ton tu un une vos votre vous y ça merci
    al algo como con cuál cuando de del dónde donde el ella ellos en era eres es esa ese eso esta está este esto fue
    ha hay he la las lo los más me mi mis muy nada no nos o para pero por porque qué que quién se ser si sí sin son
    soy su sus también te tu tus un una uno y ya yo gracias
    ao aos até com da das dos e ela ele em essa esse esta este eu foi isso isto mais mas meu minha na não nas nem no
    nos o os ou para pela pelo por qual quando que quem se sem ser seu sua são também tem tu um uma você
    che chi ci come cosa cui da dal dei del della di dove e è ed ero gli ha hai ho i il io la le lei loro lui ma mi
    mia mio ne nel non o per perché più quale quando quello questa questo sei si sono su tu un una uno
    aan als bij dat de deze die dit een en er hebben heb hem het hij hoe ik in is je jij kan maar mijn naar niet of
    om ook op te uit van voor waar was wat we wie wij zijn
    а был была были в вас вы где да для до его ее если есть еще же за и из или их к как какая какие какой когда кто
    ли меня мне мой моя мы на не нет но о об он она они от по с со так там то ты у уже что это я
    """.split()  # noqa: SIM905 - a list of quoted words would be ten times as long
)
_EMPTY_SIGNS = frozenset(
    "的了吗呢吧啊是我你他她它们在有和就都也很这那什么么谁哪怎个请问说道过のはがをにでともかですますたしてないるれこそあどんて何誰"
)


def terms(message: str, before: Sequence[str] = ()) -> Mapping[str, float]:
    """What to look for and what each counts: a word, or two or more signs with spaces between, to be found together.

    `before` are the texts of the last turns; their words stand in where the message has no content words itself.
    """
    found = dict.fromkeys(content(message), 1.0)
    if not found:
        found = {term: _BEFORE for text in before for term in content(text)}
    return dict(list(found.items())[:MOST])


def content(text: str) -> list[str]:
    """The content words of a text in order, each once, in the form in which `spaced` text is searched."""
    return list(dict.fromkeys(_content(text)))


def spaced(text: str) -> str:
    """The text in one case, with spaces around each sign of a script that has none between its words."""
    return _UNSPACED.sub(lambda sign: f" {sign[0]} ", _normal(text))


def _content(text: str) -> Iterable[str]:
    letters = "".join(char if unicodedata.category(char)[0] in "LNM" else " " for char in _normal(text))
    for word in letters.split():
        for run in _RUN.findall(word):
            if _UNSPACED.match(run):
                yield from _pairs(run)
            elif (len(run) > 1 or run.isdigit()) and run not in _EMPTY:
                yield run


def _pairs(run: str) -> Iterable[str]:
    """Two neighbours are most words' length in Chinese, and enough of a word in other such scripts."""
    for pair in pairwise(run) if len(run) > 1 else [(run,)]:
        if not _EMPTY_SIGNS.issuperset(pair):
            yield " ".join(pair)


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
