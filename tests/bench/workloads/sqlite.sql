-- SPDX-License-Identifier: MIT
--
-- sqlite.sql - mixed load on a database in memory: inserts, joins, text
--
-- The caller sets ':rounds'; 10 make about 14 million events.
CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT, n INTEGER);
CREATE TABLE place (id INTEGER PRIMARY KEY, word INTEGER, line TEXT);

WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000)
INSERT INTO word (text, n)
SELECT substr(hex(i * 2654435761 % 4294967291), 1, 3 + i % 9) || i, 0 FROM c;

CREATE INDEX word_text ON word (text);

WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL
	SELECT i + 1 FROM c WHERE i < :rounds * 30000)
INSERT INTO place (word, line)
SELECT 1 + i * 48271 % 2147483647 % 20000,
       printf('line %d of %s: %x', i, 'a text of some length', i * 7919)
FROM c;

CREATE INDEX place_word ON place (word);

UPDATE word SET n = (SELECT count(*) FROM place WHERE place.word = word.id);

SELECT count(*), sum(length(upper(replace(line, 'text', 'string')))) FROM place;

SELECT substr(word.text, 1, 2) AS k, count(*), max(place.line),
       length(group_concat(substr(place.line, 6, 6), '/'))
FROM place JOIN word ON word.id = place.word
GROUP BY k ORDER BY 2 DESC, 1 LIMIT 5;

SELECT count(DISTINCT lower(substr(line, -6)) || word % 100) FROM place;

SELECT a.text, b.text FROM word a JOIN word b
ON b.text = substr(a.text, 1, 4) || (a.id + 1)
ORDER BY a.text || b.text LIMIT 3;

SELECT count(*), min(j) FROM
	(SELECT json_object('id', id, 'line', line, 'w',
			    json_array(word, 1)) AS j
	 FROM place)
WHERE json_extract(j, '$.w[0]') % 3 = 1;

DELETE FROM place WHERE word % 5 = 0;
SELECT count(*), total(n) FROM word WHERE id IN (SELECT word FROM place);
