import { type Database, openDatabase, transaction } from 'bridle/store';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS document (
    id TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    content TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 1
  );
  CREATE TABLE IF NOT EXISTS edit_grant (
    person TEXT NOT NULL,
    document TEXT NOT NULL REFERENCES document (id),
    PRIMARY KEY (person, document)
  );
`;

const DOCUMENTS = [
  [
    'report.pdf',
    'text/plain',
    'Quarterly report\n\nRevenue grew by 12 percent, most of it from spare parts.\n' +
      'Returns fell to 3 percent of orders.\nThe main risk is the supply of burr grinders.\n',
  ],
  [
    'plan.md',
    'text/markdown',
    'release plan\ngoals:\n* ship the importer\n* answer every open question\nsteps:\n* draft\n* review\n* release\n',
  ],
  ['minutes.txt', 'text/plain', 'Minutes of the meeting\n\nAda presented the report. Emil asked for a shorter plan.\n'],
] as const;

/**
 * Opens the database of documents, and puts a few into it if it is new.
 *
 * @param file path, or `:memory:`
 */
export async function openDocsDatabase(file: string): Promise<Database> {
  const database = await openDatabase(file);
  transaction(database, () => {
    database.exec(SCHEMA);
    if (database.prepare('SELECT 1 FROM document').get() !== undefined) return;
    for (const [id, type, content] of DOCUMENTS)
      database.prepare('INSERT INTO document (id, type, content) VALUES (?, ?, ?)').run(id, type, content);
  });
  return database;
}
