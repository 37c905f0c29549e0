import { useNavigate } from "@tanstack/react-router";
import { FileUp, Plus } from "lucide-react";
import { Fragment, useState } from "react";
import { usePlace } from "../../frame/use-place.ts";
import { useMayActAs } from "../../frame/use-session.ts";
import { Button } from "../../ui/button.tsx";
import { tell } from "../../ui/toast.tsx";
import { CustomerDialog } from "./customer-dialog.tsx";
import { ImportDialog } from "./import-dialog.tsx";

type Act = "new" | "import";

/** How customers come to be by hand. */
export function CustomersActions() {
  const place = usePlace();
  const navigate = useNavigate();
  const isOperator = useMayActAs("operator");
  const [{ act, opening }, setState] = useState<{ act: Act | null; opening: number }>({
    act: null,
    opening: 0,
  });
  if (!isOperator) return null;
  const open = (name: Act) => setState({ act: name, opening: opening + 1 });
  const onClose = () => setState({ act: null, opening });
  return (
    <>
      <Button icon={FileUp} onClick={() => open("import")}>
        Import CSV
      </Button>
      <Button tone="primary" icon={Plus} onClick={() => open("new")}>
        New customer
      </Button>
      <Fragment key={opening}>
        <CustomerDialog
          customer={null}
          isOpen={act === "new"}
          onClose={onClose}
          onSaved={({ customerId, name }) => {
            tell(`${name ?? customerId} is a customer now`, "Assign a plan or add credits next");
            void navigate({
              to: "/projects/$projectId/$environment/customers/$customerId",
              params: { ...place, customerId },
            });
          }}
        />
        <ImportDialog isOpen={act === "import"} onClose={onClose} />
      </Fragment>
    </>
  );
}
