import { type Database, openDatabase, transaction } from 'bridle/store';

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS customer (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS purchase (
    id TEXT PRIMARY KEY,
    customer TEXT NOT NULL REFERENCES customer (id),
    status TEXT NOT NULL CHECK (status IN ('paid', 'shipped', 'delivered', 'refunded')),
    placed_at TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS item (
    purchase TEXT NOT NULL REFERENCES purchase (id),
    name TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0)
  );
  CREATE TABLE IF NOT EXISTS payment (
    id TEXT PRIMARY KEY,
    purchase TEXT NOT NULL UNIQUE REFERENCES purchase (id),
    amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
    currency TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS confirmation (
    payment TEXT PRIMARY KEY REFERENCES payment (id),
    amount_cents INTEGER NOT NULL,
    currency TEXT NOT NULL,
    confirmed_at TEXT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS refund (
    number INTEGER PRIMARY KEY,
    payment TEXT NOT NULL UNIQUE REFERENCES payment (id),
    refunded_at TEXT NOT NULL
  );
`;

interface SeedOrder {
  readonly id: string;
  readonly customer: string;
  readonly status: 'paid' | 'shipped' | 'delivered';
  readonly daysAgo: number;
  readonly items: readonly (readonly [name: string, quantity: number])[];
  readonly payment: { readonly id: string; readonly cents: number; readonly currency: string };
}

const CUSTOMERS = [
  ['customer-7', 'Ada Byron'],
  ['customer-9', 'Emil Post'],
  ['customer-12', 'Rosa Peter'],
] as const;

const ORDERS: readonly SeedOrder[] = [
  {
    id: 'O-104',
    customer: 'customer-7',
    status: 'delivered',
    daysAgo: 6,
    items: [
      ['Espresso machine', 1],
      ['Burr grinder', 1],
    ],
    payment: { id: 'TX-88', cents: 125_000, currency: 'USD' },
  },
  {
    id: 'O-105',
    customer: 'customer-7',
    status: 'shipped',
    daysAgo: 1,
    items: [['Descaling kit', 2]],
    payment: { id: 'TX-91', cents: 3_800, currency: 'USD' },
  },
  {
    id: 'O-61',
    customer: 'customer-7',
    status: 'delivered',
    daysAgo: 75,
    items: [['Milk jug', 1]],
    payment: { id: 'TX-47', cents: 2_450, currency: 'USD' },
  },
  {
    id: 'O-201',
    customer: 'customer-9',
    status: 'delivered',
    daysAgo: 9,
    items: [['Kettle', 1]],
    payment: { id: 'TX-93', cents: 8_900, currency: 'EUR' },
  },
  {
    id: 'O-202',
    customer: 'customer-12',
    status: 'paid',
    daysAgo: 0,
    items: [['Coffee beans, 1 kg', 4]],
    payment: { id: 'TX-95', cents: 7_200, currency: 'USD' },
  },
];

const DAY_MS = 24 * 60 * 60_000;

/** Fills an empty shop. Dates are relative to `now`, so that the first orders are fresh whenever the shop is opened. */
function seed(database: Database, now: Date): void {
  transaction(database, () => {
    // Asked inside the transaction: two processes that open the same new file must not both fill it.
    if (database.prepare('SELECT 1 FROM customer').get() !== undefined) return;
    for (const [id, name] of CUSTOMERS) database.prepare('INSERT INTO customer VALUES (?, ?)').run(id, name);
    for (const { id, customer, status, daysAgo, items, payment } of ORDERS) {
      const placedAt = new Date(now.getTime() - daysAgo * DAY_MS).toISOString();
      database.prepare('INSERT INTO purchase VALUES (?, ?, ?, ?)').run(id, customer, status, placedAt);
      for (const [name, quantity] of items)
        database.prepare('INSERT INTO item VALUES (?, ?, ?)').run(id, name, quantity);
      database.prepare('INSERT INTO payment VALUES (?, ?, ?, ?)').run(payment.id, id, payment.cents, payment.currency);
    }
  });
}

/**
 * Opens the shop's database, and fills it with a few customers, orders and payments if it is new.
 *
 * @param file path, or `:memory:`
 */
export async function openShopDatabase(file: string, now: Date = new Date()): Promise<Database> {
  const database = await openDatabase(file);
  transaction(database, () => database.exec(SCHEMA));
  seed(database, now);
  return database;
}
