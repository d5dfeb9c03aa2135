//! French, Spanish, Italian and Dutch, by their commonest words.

use super::Lexicon;

#[rustfmt::skip]
pub(in crate::intent) static FRENCH: Lexicon = Lexicon {
    signs: &[
        "le", "la", "les", "des", "du", "et", "un", "une", "pour", "dans", "mon", "ma", "mes",
        "est", "ne", "pas", "puis", "au", "aux", "moi", "avec", "ensuite", "sur",
    ],
    and: &["et", "ainsi que", "&", "plus"],
    then: &[
        "et puis", "puis", "ensuite", "et ensuite", "après cela", "après ça", "et aussi",
        "et enfin",
    ],
    but: &["mais", "cependant", "toutefois"],
    instead: &["au lieu de", "au lieu d", "plutôt que", "plutôt que de", "à la place de"],
    without: &["sans"],
    before: &["avant de", "avant d"],
    after: &["après avoir", "une fois"],
    condition: &["si"],
    first: &["d'abord", "tout d'abord", "premièrement"],
    beforehand: &["auparavant", "d'abord"],
    afterwards: &["ensuite", "puis", "enfin", "finalement", "après", "deuxièmement"],
    also: &["aussi", "également", "en plus", "de plus", "par ailleurs"],
    polite: &[
        "s'il te plaît", "s'il vous plaît", "svp", "stp", "juste", "plutôt", "bonjour", "salut",
    ],
    frames: &[
        "peux-tu", "pouvez-vous", "pourrais-tu", "pourriez-vous", "je veux", "je voudrais",
        "j'aimerais", "je dois", "j'ai besoin de", "j'ai besoin d'", "aide-moi à", "aidez-moi à",
        "il faut",
    ],
    questions: &[
        "quel", "quelle", "quels", "quelles", "qui", "où", "quand", "comment", "pourquoi",
        "combien",
    ],
    statements: &["je", "il", "elle", "nous", "vous", "ils", "est", "sont", "a", "ont", "c'est"],
    indefinite: &["un", "une", "des"],
    definite: &[
        "le", "la", "les", "mon", "ma", "mes", "notre", "nos", "ce", "cette", "tous", "toutes",
    ],
    anaphora: &["le", "la", "les", "ça", "cela"],
    prepositions: &[
        "de", "du", "des", "à", "au", "aux", "avec", "dans", "en", "pour", "sur", "par", "ou",
    ],
    dont: &[
        "n'envoie pas", "n'envoyez pas", "ne", "n'ouvre pas", "n'utilise pas", "n'écris pas",
        "n'ajoute pas", "n'efface pas", "n'exécute pas", "je ne veux pas", "inutile de",
    ],
    not: &["pas de", "pas d'", "pas un", "pas une", "pas le", "pas la", "non pas"],
    no_negation: &["ne plus", "pas mal", "pas de problème", "pas de souci", "ne pas oublier"],
    double: &[
        "n'oublie pas de", "n'oubliez pas de", "n'oublie pas d'", "n'oublie pas", "non seulement",
        "n'hésite pas à",
    ],
    verbs: &[
        "ajoute", "affiche", "analyse", "annule", "calcule", "change", "cherche", "cherchez",
        "clone", "compare", "compresse", "convertis", "corrige", "crée", "créez", "créer",
        "décris", "déploie", "déployez", "dessine", "donne", "écris", "écrivez", "efface",
        "enregistre", "envoie", "envoyez", "exécute", "explique", "extrais", "fais", "faites",
        "ferme", "formate", "fusionne", "génère", "installe", "lance", "lancez", "liste", "lis",
        "lisez", "mets", "montre", "montrez", "nettoie", "ouvre", "ouvrez", "pousse", "planifie",
        "prépare", "préparez", "publie", "rappelle", "rédige", "recherche", "redémarre",
        "remplace", "renomme", "répare", "réserve", "résume", "résumez", "sauvegarde", "supprime",
        "télécharge", "télécharger", "teste", "traduis", "traduisez", "traduire", "trouve",
        "trouvez", "trouver", "vérifie", "vérifiez", "envoyer", "écrire", "chercher", "commite",
    ],
    ..Lexicon::NONE
};

#[rustfmt::skip]
pub(in crate::intent) static SPANISH: Lexicon = Lexicon {
    signs: &[
        "el", "la", "los", "las", "del", "y", "una", "un", "para", "por", "mi", "mis", "es",
        "que", "con", "luego", "después", "al", "lo", "de",
    ],
    and: &["y", "e", "así como", "&", "además de"],
    then: &[
        "y luego", "luego", "y después", "después", "a continuación", "y también", "y además",
        "y por último",
    ],
    but: &["pero", "sino", "sin embargo"],
    instead: &["en lugar de", "en vez de"],
    without: &["sin"],
    before: &["antes de"],
    after: &["después de", "tras", "una vez que"],
    condition: &["si"],
    first: &["primero", "en primer lugar"],
    beforehand: &["antes", "primero"],
    afterwards: &["luego", "después", "finalmente", "por último", "a continuación"],
    also: &["también", "además"],
    polite: &["por favor", "solo", "simplemente", "hola", "mejor"],
    frames: &[
        "puedes", "podrías", "puede", "quiero", "quisiera", "me gustaría", "necesito",
        "ayúdame a", "tengo que", "hay que",
    ],
    questions: &["qué", "quién", "dónde", "cuándo", "cómo", "cuánto", "cuál", "cuáles", "cuántos"],
    statements: &["yo", "él", "ella", "es", "está", "son", "están", "ha", "han", "hay"],
    indefinite: &["un", "una", "unos", "unas"],
    definite: &[
        "el", "la", "los", "las", "mi", "mis", "tu", "su", "este", "esta", "todos", "todas",
    ],
    anaphora: &["lo", "la", "los", "las", "eso", "esto"],
    prepositions: &["de", "del", "a", "al", "con", "en", "para", "por", "sobre", "o"],
    dont: &["no quiero", "no necesito", "no hace falta", "no"],
    not: &["ningún", "ninguna"],
    no_negation: &[
        "no obstante", "no funciona", "no puedo", "no sé", "no tengo", "no está", "no es",
        "no hay", "no encuentro", "no hay problema", "no me", "no se", "no entiendo", "no tan",
    ],
    double: &["no olvides", "no te olvides de", "no solo", "no sólo", "no dudes en"],
    verbs: &[
        "abre", "actualiza", "agrega", "añade", "analiza", "ayuda", "borra", "busca", "buscar",
        "calcula", "cambia", "cierra", "clona", "compara", "comprime", "confirma", "convierte",
        "corrige", "crea", "crear", "descarga", "despliega", "dibuja", "dime", "ejecuta",
        "elimina", "encuentra", "envía", "enviar", "escribe", "escribir", "explica", "extrae",
        "formatea", "fusiona", "genera", "guarda", "haz", "instala", "lee", "leer", "lista",
        "manda", "mueve", "muestra", "planifica", "pon", "prepara", "publica", "recuérdame",
        "redacta", "reemplaza", "reinicia", "renombra", "reserva", "resume", "revisa", "sube",
        "traduce", "traducir", "verifica",
    ],
    ..Lexicon::NONE
};

#[rustfmt::skip]
pub(in crate::intent) static ITALIAN: Lexicon = Lexicon {
    signs: &[
        "il", "lo", "gli", "del", "della", "e", "un", "una", "per", "con", "mio", "mia", "che",
        "di", "poi", "nel", "al", "i", "le", "non",
    ],
    and: &["e", "ed", "nonché", "&"],
    then: &["e poi", "poi", "dopo", "dopodiché", "e dopo", "e infine", "e anche", "e inoltre"],
    but: &["ma", "bensì", "però"],
    instead: &["invece di", "al posto di", "piuttosto che"],
    without: &["senza"],
    before: &["prima di"],
    after: &["dopo aver", "una volta"],
    condition: &["se"],
    first: &["prima", "innanzitutto", "per prima cosa"],
    beforehand: &["prima"],
    afterwards: &["poi", "dopo", "infine", "successivamente"],
    also: &["anche", "inoltre"],
    polite: &["per favore", "solo", "piuttosto", "ciao"],
    frames: &["puoi", "potresti", "può", "voglio", "vorrei", "ho bisogno di", "devo", "aiutami a"],
    questions: &["che", "chi", "dove", "quando", "come", "quanto", "quale", "quali"],
    statements: &["io", "è", "sono", "ha", "hanno", "c'è"],
    indefinite: &["un", "una", "uno"],
    definite: &[
        "il", "lo", "la", "i", "gli", "le", "mio", "mia", "questo", "questa", "tutti", "tutte",
    ],
    anaphora: &["lo", "la", "li", "le", "ciò"],
    prepositions: &["di", "del", "a", "al", "con", "in", "nel", "per", "su", "da", "o"],
    dont: &["non voglio", "non serve", "non"],
    no_negation: &[
        "non funziona", "non riesco", "non so", "non ho", "non è", "non ci", "non c'è",
        "non trovo",
    ],
    double: &["non dimenticare di", "non dimenticare", "non solo", "non esitare a"],
    verbs: &[
        "aggiorna", "aggiungi", "analizza", "apri", "calcola", "cambia", "cancella", "cerca",
        "cercare", "chiudi", "clona", "confronta", "controlla", "converti", "correggi", "crea",
        "creare", "disegna", "distribuisci", "elimina", "esegui", "estrai", "fai", "formatta",
        "genera", "installa", "invia", "inviare", "leggi", "leggere", "manda", "mostra",
        "pianifica", "prenota", "prepara", "pubblica", "riassumi", "ricordami", "rinomina",
        "riavvia", "salva", "scarica", "scrivi", "scrivere", "sostituisci", "sposta", "spiega",
        "traduci", "tradurre", "trova", "trovare", "unisci", "verifica",
    ],
    ..Lexicon::NONE
};

#[rustfmt::skip]
pub(in crate::intent) static DUTCH: Lexicon = Lexicon {
    signs: &[
        "de", "het", "een", "en", "van", "voor", "met", "mijn", "naar", "niet", "geen", "dan",
        "dat", "op", "is", "alle", "daarna", "eerst", "maar",
    ],
    and: &["en", "alsook", "evenals", "&"],
    then: &[
        "en dan", "dan", "daarna", "en daarna", "vervolgens", "en vervolgens", "en ook",
        "en ten slotte",
    ],
    but: &["maar", "echter"],
    instead: &["in plaats van"],
    without: &["zonder"],
    before: &["voordat"],
    after: &["nadat", "zodra"],
    condition: &["als", "indien"],
    first: &["eerst", "allereerst", "ten eerste"],
    beforehand: &["eerst", "van tevoren"],
    afterwards: &["daarna", "vervolgens", "ten slotte", "tenslotte", "dan"],
    also: &["ook", "bovendien", "daarnaast"],
    polite: &["alsjeblieft", "alstublieft", "even", "gewoon", "hallo", "graag"],
    frames: &[
        "kun je", "kan je", "zou je", "kunt u", "ik wil", "ik wil graag", "ik moet",
        "ik heb nodig", "help me", "laten we",
    ],
    questions: &["wat", "wie", "waar", "wanneer", "waarom", "hoe", "welke", "welk"],
    statements: &["ik", "wij", "hij", "zij", "het", "is", "zijn", "was", "heeft", "hebben"],
    indefinite: &["een"],
    definite: &["de", "het", "mijn", "onze", "deze", "dit", "alle"],
    anaphora: &["het", "hem", "ze", "dit", "dat"],
    prepositions: &[
        "van", "voor", "met", "naar", "op", "in", "aan", "bij", "uit", "over", "of", "te",
    ],
    dont: &["ik wil geen", "ik wil niet", "ik heb geen", "nooit"],
    not: &["geen", "niet"],
    no_negation: &[
        "niet alleen", "niet meer", "geen probleem", "geen idee", "geen zorgen", "geen haast",
        "niet zo", "niet slecht",
    ],
    double: &["vergeet niet", "niet alleen", "vergeet niet om"],
    verbs: &[
        "analyseer", "bereken", "bekijk", "bouw", "controleer", "converteer", "download", "draai",
        "exporteer", "formatteer", "geef", "genereer", "haal", "herinner", "hernoem", "herstart",
        "installeer", "kloon", "kopieer", "laat", "lees", "lijst", "maak", "merge", "open", "pak",
        "plaats", "plan", "publiceer", "push", "commit", "rol", "schrijf", "sla", "sluit",
        "sorteer", "start", "stel", "stop", "stuur", "test", "toon", "uitvoeren", "verander",
        "vergelijk", "verplaats", "verstuur", "vertaal", "vervang", "verwijder", "vind", "voeg",
        "voer", "zet", "zoek", "vat",
    ],
    ..Lexicon::NONE
};
