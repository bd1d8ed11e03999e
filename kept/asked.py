from expctl import wiring
from expctl.flow.rules import by_meaning as b
git=wiring.reader(place:=wiring.here()); head=git.head(); book=wiring.rulebook(place,git)
now=book.circumstances(head)
m=book.meanings(head)
for rec,old in b._asking(book,head,now):
    j=b._judges(m,rec); p=b._pair(book,head,rec,old)
    print(rec.id, rec.target, j, 'HEAD' if p.before.commit==head else p.before.commit[:8], m.here([(p.before,j[0])]) if j else '')
from expctl.domain.rules.states import rule_states
from collections import Counter
print(Counter(str(getattr(s,'state','')) for s in rule_states(book.ruled(head),now)))
