import { ToolFailure } from 'bridle';
import { type Database, transaction } from 'bridle/store';

export interface Document {
  readonly document_id: string;
  readonly type: string;
  readonly content: string;
  readonly version: number;
}

/** The documents, and who may edit which of them. A person is who the session says, never an argument. */
export interface Docs {
  ids(): readonly string[];
  read(id: string): Document;
  /** Gives the person the right to edit this document. */
  grant(person: string, id: string): void;
  mayEdit(person: string, id: string): boolean;
  /** Whether there is any document that the person may edit. */
  mayEditAny(person: string): boolean;
  /**
   * Writes a document anew.
   *
   * @param change from the content of now to the next
   */
  edit(person: string, id: string, change: (content: string) => string): Document;
  /** Called when somebody's rights changed. */
  onGrant(listener: () => void): () => void;
  /** Called with the id of a document that was edited. */
  onEdit(listener: (id: string) => void): () => void;
}

export function createDocs(database: Database): Docs {
  const granted = new Set<() => void>();
  const edited = new Set<(id: string) => void>();

  const read = (id: string): Document => {
    const row = database.prepare('SELECT id, type, content, version FROM document WHERE id = ?').get(id);
    if (row === undefined) throw new ToolFailure(`There is no document ${id}. list_documents shows what there is.`);
    return {
      document_id: String(row.id),
      type: String(row.type),
      content: String(row.content),
      version: Number(row.version),
    };
  };
  const mayEdit = (person: string, id: string) =>
    database.prepare('SELECT 1 FROM edit_grant WHERE person = ? AND document = ?').get(person, id) !== undefined;

  return {
    ids: () =>
      database
        .prepare('SELECT id FROM document ORDER BY rowid')
        .all()
        .map(({ id }) => String(id)),
    read,
    mayEdit,
    mayEditAny: (person) => database.prepare('SELECT 1 FROM edit_grant WHERE person = ?').get(person) !== undefined,
    grant(person, id) {
      const { document_id } = read(id);
      database.prepare('INSERT OR IGNORE INTO edit_grant VALUES (?, ?)').run(person, document_id);
      for (const listener of [...granted]) listener();
    },
    edit(person, id, change) {
      const after = transaction(database, () => {
        const { content } = read(id);
        if (!mayEdit(person, id)) {
          throw new ToolFailure(`You may not edit ${id} yet: request_edit_access asks for it.`, {
            category: 'permission',
          });
        }
        const next = change(content);
        database.prepare('UPDATE document SET content = ?, version = version + 1 WHERE id = ?').run(next, id);
        return read(id);
      });
      for (const listener of [...edited]) listener(id);
      return after;
    },
    onGrant(listener) {
      granted.add(listener);
      return () => granted.delete(listener);
    },
    onEdit(listener) {
      edited.add(listener);
      return () => edited.delete(listener);
    },
  };
}
