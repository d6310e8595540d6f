/**
 * A shop's MCP server over stdio. Settings come from whoever starts it, not from the conversation:
 * `SHOP_CUSTOMER` is the signed-in customer (customer-7 unless given), `SHOP_DB` the database file (in memory unless
 * given).
 */
import { toolHost } from 'bridle';
import { serve } from 'bridle/server';
import { openShopDatabase } from './database.ts';
import { createShop } from './shop.ts';
import { shopTools } from './tools.ts';

const database = await openShopDatabase(process.env.SHOP_DB || ':memory:');
const shop = createShop(database, process.env.SHOP_CUSTOMER || 'customer-7');
const info = { name: 'shop', version: '1.0.0', title: 'A small shop' };
await serve(await toolHost({ tools: shopTools(shop), info }), { stdio: true });
