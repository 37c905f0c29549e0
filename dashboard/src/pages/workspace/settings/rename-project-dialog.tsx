import { useMutation } from "@tanstack/react-query";
import { useForm } from "react-hook-form";
import { answerOf, api } from "../../../api/client.ts";
import { type Project, projectsQuery } from "../../../api/projects.ts";
import { queryClient } from "../../../api/query-client.ts";
import { ApiCall } from "../../../ui/api-call.tsx";
import { Button } from "../../../ui/button.tsx";
import { Dialog, DialogActions } from "../../../ui/dialog.tsx";
import { TextField } from "../../../ui/field.tsx";
import { ProblemCallout } from "../../../ui/problem-callout.tsx";
import { tell } from "../../../ui/toast.tsx";

export function RenameProjectDialog({ project, onClose }: { project: Project; onClose: () => void }) {
  const { id: projectId } = project;
  const { register, handleSubmit, watch } = useForm({ defaultValues: { name: project.name } });
  const rename = useMutation({
    mutationFn: (body: { name: string }) =>
      answerOf(api.PATCH("/manage/v1/projects/{projectId}", { params: { path: { projectId } }, body })),
    onSuccess: async ({ name }) => {
      await queryClient.invalidateQueries({ queryKey: projectsQuery.queryKey });
      tell("Renamed the project", `${project.name} → ${name}`);
      onClose();
    },
  });
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={`Rename ${project.name}`}
      note="Keys, customers and history stay as they are, and so do addresses."
    >
      <form className="flex flex-col gap-4" onSubmit={handleSubmit((body) => rename.mutate(body))}>
        <TextField label="Name" required maxLength={120} autoComplete="off" {...register("name")} />
        <ProblemCallout error={rename.error} />
        <ApiCall call={{ method: "PATCH", path: `/manage/v1/projects/${projectId}`, body: watch() }} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" tone="primary" isBusy={rename.isPending}>
            Rename project
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
